import { messageOf } from '../../schemas/errors.ts';
import { ANSWER_BYTES, AnswerCode, type GradeRequest } from '../../schemas/grade.ts';
import type { Heard } from './gate-policy.ts';

/** Asks the oracle. Never rejects: what is no answer is ERROR, and no answer in time is PENDING. */
export type Grader = (request: GradeRequest, deadlineMs: number) => Promise<Heard>;

/** The oracle is told to answer a little before we stop listening. */
const MARGIN_MS = 2_000;

/** What the oracle at `url` says. @param warn is told why there was no answer; never content */
export function oracleAt(
  oracle: { url: string; token: string },
  warn: (message: string, fields: Record<string, unknown>) => void,
): Grader {
  const url = new URL('/v1/grade', oracle.url);
  return async (request, deadlineMs) => {
    const signal = AbortSignal.timeout(deadlineMs);
    const deadline_ms = Math.max(1, Math.floor(deadlineMs - Math.min(MARGIN_MS, deadlineMs / 10)));
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${oracle.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...request, deadline_ms }),
        redirect: 'error',
        signal,
      });
      const answer = await answerIn(response);
      if (answer) return { answer, reached: true };
      warn('the oracle gave no answer that is one', { status: response.status });
    } catch (error) {
      if (signal.aborted) return { answer: 'PENDING', reached: false };
      warn('the oracle cannot be reached', { why: messageOf(error) });
    }
    return { answer: 'ERROR', reached: false };
  };
}

/** The fixed-size body; one of another size, or with another word, is no answer. */
async function answerIn(response: Response): Promise<AnswerCode | null> {
  const length = response.headers.get('content-length');
  if (response.status !== 200 || (length !== null && Number(length) !== ANSWER_BYTES)) {
    await response.body?.cancel();
    return null;
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length !== ANSWER_BYTES) return null;
  const parsed = AnswerCode.safeParse(bytes.toString('latin1').trimEnd());
  return parsed.success ? parsed.data : null;
}
