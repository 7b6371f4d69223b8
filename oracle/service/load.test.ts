/** The service as agent hosts see it, over its own HTTP: what every byte says, and many hosts at once. */
import { expect, test, vi } from 'vitest';
import { ANSWER_BYTES } from '../../schemas/grade.ts';
import { gradeRequest } from '../testing.ts';
import { askFromHosts } from './testing-hosts.ts';
import { BUCKET, exchange, serve } from './testing-http.ts';
import { createToken } from './tokens.ts';

const KINDS = [
  'good',
  'bad',
  'bad slow',
  'bad suite',
  'bad refused',
  'fault',
  'hang slow slow',
  'cached',
  'unknown',
  'not JSON',
];

test('O7 200 grades of all kinds: one length, at most five bodies, and everything leaves on an edge', async () => {
  const { oracle, row, log, service } = await serve();
  const tokens = Array.from({ length: 4 }, (_, at) => createToken(oracle, `host ${at}`.replace(' ', '-')));
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => {
      const kind = KINDS[at % KINDS.length] ?? '';
      const diff = kind === 'cached' ? 'bad the same' : `${kind} ${at}`;
      const change = {
        session_id: `s${at % 40}`,
        ...(kind === 'unknown' ? { task_id: 'none' } : {}),
        ...(kind.startsWith('hang') ? { deadline_ms: 30 } : {}),
      };
      const body = kind === 'not JSON' ? '{' : JSON.stringify(gradeRequest(row, diff, change));
      return exchange(service.url, tokens[at % 4] ?? '', body);
    }),
  );
  expect(new Set(answers.map(({ bytes }) => bytes)).size).toBe(1);
  expect(new Set(answers.map(({ head }) => head)).size).toBe(1);
  const bodies = [...new Set(answers.map(({ text }) => text))].sort();
  expect(bodies).toEqual(
    ['ERROR', 'FAIL', 'NO_TASK', 'PASS', 'PENDING'].map((code) => code.padEnd(ANSWER_BYTES)),
  );
  const released = () =>
    log.records.flatMap(({ value }) =>
      'released_at' in value && value.mode === 'grade' ? [Date.parse(value.released_at)] : [],
    );
  // Those that were answered PENDING are released later.
  await vi.waitFor(() => expect(released()).toHaveLength(160), { timeout: 60_000, interval: 100 });
  await service.stop();
  expect(released().filter((at) => at % BUCKET !== 0)).toEqual([]);
});

test('many requests of 20 hosts at once: each has its own answer, and each verdict names who asked', async () => {
  await askFromHosts({ hosts: 20, each: 10 });
});
