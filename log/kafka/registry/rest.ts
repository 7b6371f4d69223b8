/** The registry's own answers, where the client library keeps an error's code or a whole endpoint to itself. */
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../../../schemas/errors.ts';

export interface RegistryAddress {
  /** Such as `http://localhost:8081`; a path is kept (Apicurio: `…/apis/ccompat/v7`). */
  url: string;
  auth?: { username: string; password: string } | undefined;
}

export interface Answer {
  status: number;
  body: unknown;
  /** The registry's code for an error, such as 40403; null when it names none. */
  code: number | null;
  message: string;
}

/** An answer that takes longer is an outage. */
export const ANSWER_MS = 10_000;

const Refusal = z.looseObject({ error_code: z.number(), message: z.string().default('') });
/** Karapace refuses a login without a code. */
const Said = z.looseObject({ message: z.string() });

/**
 * One request. Answers of every status are returned.
 * @throws FlipstreamError `registry_unavailable` (retryable) when there is no answer, or one of a failing server, or
 * a 404 of something that is no registry: a proxy, a wrong path.
 */
export async function askRegistry(
  { url, auth }: RegistryAddress,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers: Record<string, string> = { accept: 'application/vnd.schemaregistry.v1+json' };
  if (body !== undefined) headers['content-type'] = 'application/vnd.schemaregistry.v1+json';
  if (auth) {
    const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
    headers.authorization = `Basic ${pair}`;
  }
  let status: number;
  let text: string;
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method,
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    status = response.status;
    text = await response.text();
  } catch (cause) {
    throw unavailable(url, reasonOf(cause), cause);
  }
  if (status >= 500) throw unavailable(url, `it answers with status ${status}`);
  const parsed = parse(text);
  const refusal = Refusal.safeParse(parsed);
  if (status === 404 && !refusal.success) throw unavailable(url, 'status 404, but not a registry\u2019s');
  return {
    status,
    body: parsed,
    code: refusal.success ? refusal.data.error_code : null,
    message: Said.safeParse(parsed).data?.message ?? `status ${status}`,
  };
}

/** The error of a registry that cannot be asked now; like that of a broker it promises no other try. */
export function unavailable(url: string, why: string, cause?: unknown): FlipstreamError {
  return new FlipstreamError(
    'registry_unavailable',
    'retryable',
    `the schema registry at ${url} cannot be asked (${why}): see that it runs and can be reached from here; nothing is set aside because of it`,
    cause,
  );
}

/** `fetch failed` says nothing; what lies below does. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause ? messageOf(error.cause) || error.message : messageOf(error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
