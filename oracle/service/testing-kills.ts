/** A service that is killed again and again while hosts ask, and what has to hold afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { GradeRequest } from '../../schemas/grade.ts';
import { rejectionOf, verdictHash } from '../../schemas/signature.ts';
import { verdictsOf } from '../keys/chain.ts';
import { exportKeyRing } from '../keys/ring.ts';
import type { Oracle } from '../oracle.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import type { TaskRow } from '../tasks/rows.ts';
import {
  fakeRunner,
  gradeRequest,
  makeOracle,
  makeRepository,
  taskDirectory,
  temporaryDirectory,
} from '../testing.ts';
import { createToken } from './tokens.ts';

const CHILD = new URL('restart-child.ts', import.meta.url).pathname;
const Line = z.object({
  topic: z.string(),
  key: z.string(),
  value: z.looseObject({
    verdict_id: z.string().optional(),
    request_id: z.string().nullish(),
    verdict: z.string().optional(),
  }),
});

async function begin(
  { oracle }: Killed,
  published: string,
): Promise<{ child: ChildProcess; gone: Promise<unknown>; url: string }> {
  const child = spawn(process.execPath, [CHILD, oracle.home.root, published, oracle.runner.kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [data]: unknown[] = await once(child.stdout, 'data');
  return { child, gone, url: String(data).trim() };
}

async function ask(url: string, token: string, request: GradeRequest): Promise<string | null> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  try {
    const answer = await fetch(`${url}/v1/grade`, { method: 'POST', headers, body: JSON.stringify(request) });
    return (await answer.text()).trim();
  } catch {
    return null; // killed before it answered
  }
}

/** A ready task, and what is asked about it: any number of diffs, of which every third is right. */
export interface Killed {
  oracle: Oracle;
  row: TaskRow;
  diffOf(at: number): string | Buffer;
  /** Each kill comes so long after the service was there, milliseconds. */
  pauseMs: readonly [from: number, to: number];
}

/** Grades that run nothing. */
export async function quickGrades(): Promise<Killed> {
  const oracle = makeOracle({ runner: fakeRunner() });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  return { oracle, row, diffOf: (at) => `${at % 3 === 0 ? 'good' : 'bad'} ${at}`, pauseMs: [10, 90] };
}

/**
 * Kills the service at random moments while every request is asked again until it is answered. Then: no answered
 * verdict is lost or another, none is published under two ids, and the key's chain is unbroken.
 */
export async function killAtRandom(killed: Killed, kills: number, requestCount: number): Promise<void> {
  const { oracle, row, diffOf, pauseMs } = killed;
  const token = createToken(oracle, 'host');
  const published = join(temporaryDirectory(), 'published');
  writeFileSync(published, '');
  const requests = Array.from({ length: requestCount }, (_, at) =>
    gradeRequest(row, diffOf(at), {
      session_id: `s${at % Math.ceil(requestCount / 5)}`,
    }),
  );
  const answers = new Map<string, string>();
  for (let round = 0; round <= kills; round++) {
    const { child, gone, url } = await begin(killed, published);
    const asked = requests.map(async (request) => {
      const answer = await ask(url, token, request);
      if (answer === null) return;
      expect(answers.get(request.request_id) ?? answer).toBe(answer);
      answers.set(request.request_id, answer);
    });
    if (round < kills) {
      await pause(pauseMs[0] + Math.random() * (pauseMs[1] - pauseMs[0])); // the random moment itself
      child.kill('SIGKILL');
    }
    await Promise.all(asked);
    if (round === kills) {
      await expect.poll(() => verdictLines(published).size, { timeout: 10_000 }).toBe(requests.length);
      child.kill('SIGKILL');
    }
    await gone;
  }
  expect(answers.size).toBe(requests.length);
  const lines = verdictLines(published);
  for (const request of requests) {
    const ids = lines.get(request.request_id);
    expect(ids?.size).toBe(1);
    expect([...(ids?.values() ?? [])][0]).toBe(answers.get(request.request_id));
  }
  for (const [at, request] of requests.entries()) {
    expect(answers.get(request.request_id)).toBe(at % 3 === 0 ? 'PASS' : 'FAIL');
  }
  const chain = verdictsOf(oracle.db, oracle.key.key_id);
  const ring = exportKeyRing(oracle.home, oracle.runner.kind);
  expect(chain).toHaveLength(requests.length + 1);
  chain.forEach((verdict, at) => {
    const before = chain[at - 1];
    expect(verdict.oracle_prev).toBe(before ? verdictHash(before) : null);
    expect(rejectionOf(verdict, ring)).toBeNull();
  });
}

/**
 * Verdict ids and what they say, by request. A kill between publishing and noting it has records published again, which
 * readers drop by their ids (tests/published-twice.test.ts): such a repeat has to be the same to the last byte.
 */
function verdictLines(path: string): Map<string, Map<string, string>> {
  const found = new Map<string, Map<string, string>>();
  const texts = new Map<string, string>();
  for (const text of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    const { value } = Line.parse(JSON.parse(text));
    if (!value.request_id) continue;
    const id = value.verdict_id ?? '';
    expect(texts.get(id) ?? text).toBe(text);
    texts.set(id, text);
    const ids = found.get(value.request_id) ?? new Map<string, string>();
    found.set(value.request_id, ids.set(id, value.verdict ?? ''));
  }
  return found;
}
