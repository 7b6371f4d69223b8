import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { askOracle, bodyOf } from './oracle-client.ts';

const addresses = Object.values(networkInterfaces()).flatMap((found) => found?.map((one) => one.address));

test.skipIf(!addresses.includes('::1'))('an oracle at an IPv6 address is asked', async () => {
  const server = createServer((_, response) => response.end('PASS'));
  await new Promise<void>((resolve) => server.listen(0, '::1', resolve));
  try {
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const at = { url: `http://[::1]:${port}`, token: 't' };
    const response = await askOracle(at, '/v1/feed', { signal: AbortSignal.timeout(5000) });
    expect(String(await bodyOf(response, 10))).toBe('PASS');
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
