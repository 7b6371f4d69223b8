import type { IncomingMessage } from 'node:http';
import { messageOf } from '../../schemas/errors.ts';
import { ANSWER_BYTES, AnswerCode, type GradeRequest } from '../../schemas/grade.ts';
import { askOracle, bodyOf, type OracleAt } from '../oracle-client.ts';
import type { Heard } from './gate-policy.ts';

/** Asks the oracle. Never rejects: what is no answer is ERROR, and no answer in time is PENDING. */
export type Grader = (request: GradeRequest, deadlineMs: number) => Promise<Heard>;

/** The oracle is told to answer a little before we stop listening. */
const MARGIN_MS = 2_000;

/** What the oracle at `url` says. @param warn is told why there was no answer; never content */
export function oracleAt(
  oracle: OracleAt,
  warn: (message: string, fields: Record<string, unknown>) => void,
): Grader {
  return async (request, deadlineMs) => {
    const signal = AbortSignal.timeout(deadlineMs);
    const deadline_ms = Math.max(1, Math.floor(deadlineMs - Math.min(MARGIN_MS, deadlineMs / 10)));
    try {
      const response = await askOracle(oracle, '/v1/grade', { body: { ...request, deadline_ms }, signal });
      const answer = await answerIn(response);
      if (answer) return { answer, reached: true };
      warn('the oracle gave no answer that is one', { status: response.statusCode });
    } catch (error) {
      if (signal.aborted) return { answer: 'PENDING', reached: false };
      warn('the oracle cannot be reached', { why: messageOf(error) });
    }
    return { answer: 'ERROR', reached: false };
  };
}

/** The fixed-size body; one of another size, or with another word, is no answer. */
async function answerIn(response: IncomingMessage): Promise<AnswerCode | null> {
  const length = response.headers['content-length'];
  if (response.statusCode !== 200 || (length !== undefined && Number(length) !== ANSWER_BYTES)) {
    response.destroy();
    return null;
  }
  const bytes = await bodyOf(response, ANSWER_BYTES);
  if (bytes.length !== ANSWER_BYTES) return null;
  const parsed = AnswerCode.safeParse(bytes.toString('latin1').trimEnd());
  return parsed.success ? parsed.data : null;
}
