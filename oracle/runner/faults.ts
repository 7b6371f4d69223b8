import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { httpStatus } from './engine.ts';
import type { FaultClass } from './runner.ts';

const NAMED = new Set<FaultClass>(['image_unusable', 'engine_lost', 'git_unavailable', 'mirror_unreadable']);

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EACCES',
  'EPIPE',
  'ECONNRESET',
  'ETIMEDOUT',
  'ENOTFOUND',
]);

/** Why a container could not be made ready, as a fault of the machinery: before agent code has started. */
export function faultOf(error: unknown): { class: FaultClass; message: string } {
  const message = messageOf(error).trim();
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/ENOSPC|EDQUOT|no space left|disk quota/i.test(message)) return { class: 'disk_full', message };
  if (error instanceof FlipstreamError) {
    const named = [...NAMED].find((name) => name === code);
    return { class: named ?? 'mirror_unreadable', message };
  }
  const status = httpStatus(error);
  if (status === 404) return { class: 'image_missing', message };
  if (status !== null) return { class: 'image_unusable', message };
  return { class: UNREACHABLE.has(code) ? 'daemon_down' : 'runner_failed', message };
}
