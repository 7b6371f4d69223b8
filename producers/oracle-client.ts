import { readFileSync } from 'node:fs';
import { type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secured } from 'node:https';

/** Where the oracle is, as the settings say it. */
export interface OracleAt {
  /** `http://127.0.0.1:7000`, `https://oracle.example:7000`, or `unix:/run/flipstream/oracle.sock`. */
  url: string;
  token: string;
  /** File with the certificate of who signed the oracle's, when no public authority did. */
  ca?: string | undefined;
}

export interface Ask {
  /** Sent as JSON by POST; without it the request is a GET. */
  body?: unknown;
  signal: AbortSignal;
}

/**
 * One request to the oracle. Redirects are not followed: they would carry the token elsewhere.
 * @throws what the connection fails with.
 */
export function askOracle(oracle: OracleAt, path: string, { body, signal }: Ask): Promise<IncomingMessage> {
  const url = new URL(oracle.url);
  const text = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const options: RequestOptions & { ca?: Buffer } = {
    path,
    method: text ? 'POST' : 'GET',
    headers: {
      authorization: `Bearer ${oracle.token}`,
      ...(text ? { 'content-type': 'application/json', 'content-length': text.length } : {}),
    },
    signal,
    ...(url.protocol === 'unix:' ? { socketPath: url.pathname } : { host: hostOf(url), port: url.port }),
    ...(url.protocol === 'https:' && oracle.ca !== undefined ? { ca: readFileSync(oracle.ca) } : {}),
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? secured : plain)(options, resolve);
    request.on('error', reject);
    request.end(text ?? undefined);
  });
}

/** Without the brackets that an address of IPv6 has in a URL, and nowhere else. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.+)\]$/, '$1');
}

/** The whole body. @throws when it is longer than `limit` bytes, or cut short. */
export async function bodyOf(response: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit) throw new Error(`the answer is longer than ${limit} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
