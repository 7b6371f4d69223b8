import { FlipstreamError } from './errors.ts';

/**
 * Dropping what only a newer release knows would break a record's chain or signature, and lose it for all who read
 * after us: so the record waits for that release (docs/decisions/0020).
 * @param where a topic, or whose records they are
 * @param fields paths
 */
export function newerWriter(where: string, fields: readonly string[]): FlipstreamError {
  const message = `${where} holds records of a newer release (${fields.join(', ')}): update this process; they wait for it`;
  return new FlipstreamError('newer_writer', 'retryable', message);
}
