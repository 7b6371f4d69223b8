import type { Server } from 'node:http';
import { z } from 'zod';

const Address = z.object({ port: z.number() });

export interface Listening {
  url: string;
  /** Ends open connections too. */
  close(): Promise<void>;
}

/** Serves on loopback; port 0: a free one. */
export async function listen(server: Server, wanted = 0): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = Address.parse(server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
