/** Many agent hosts that ask at once, and what has to hold afterwards. */
import { expect } from 'vitest';
import { gradeRequest } from '../testing.ts';
import { exchange, serve } from './testing-http.ts';
import { createToken } from './tokens.ts';

/**
 * Asks, and expects that none is lost and none answered for another.
 * @returns how long each waited for its answer, milliseconds, in order.
 */
export async function askFromHosts({ hosts, each }: { hosts: number; each: number }): Promise<number[]> {
  const { oracle, row, log, service } = await serve();
  const asks = Array.from({ length: hosts }, (_, at) => `h${at}`).flatMap((name) => {
    const token = createToken(oracle, name);
    return Array.from({ length: each }, (_, at) => {
      const want = at % 3 === 0 ? 'PASS' : 'FAIL';
      const session_id = `${name}-${Math.floor(at / 20)}`;
      const diff = `${want === 'PASS' ? 'good' : 'bad'} ${name} ${at}`;
      return { name, token, want, request: gradeRequest(row, diff, { session_id }) };
    });
  });
  const waited: number[] = [];
  const answers = await Promise.all(
    asks.map(async ({ token, request }) => {
      const started = performance.now();
      const answer = await exchange(service.url, token, JSON.stringify(request));
      waited.push(performance.now() - started);
      return answer;
    }),
  );
  expect(answers.map(({ text }) => text.trim())).toEqual(asks.map(({ want }) => want));
  await service.stop();
  const grades = log.records.flatMap(({ value }) =>
    'request_id' in value && 'mode' in value && value.mode === 'grade' ? [value] : [],
  );
  expect(grades).toHaveLength(asks.length);
  const byRequest = new Map(grades.map((verdict) => [verdict.request_id, verdict]));
  for (const { name, want, request } of asks)
    expect(byRequest.get(request.request_id)).toMatchObject({
      requester: name,
      verdict: want,
      diff_hash: request.diff_hash,
      session_id: request.session_id,
    });
  return waited.sort((a, b) => a - b);
}
