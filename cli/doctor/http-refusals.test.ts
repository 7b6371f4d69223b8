/** What the HTTP transport refused, as a person is told of it. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type Collector, startCollector } from '../../producers/collector/collector.ts';
import { memoryLog } from '../../producers/collector/testing.ts';
import { layout } from '../../producers/home.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const TOKEN = 'a-token';
let box: Sandbox;
let collector: Collector;
beforeEach(async () => {
  box = sandbox();
  collector = await startCollector({
    home: layout(join(box.root, 'home')),
    log: memoryLog(),
    clock: Date.now,
    settings: { v: 1, http: { port: 0, token: TOKEN } },
    warn: () => {},
  });
});
afterEach(async () => {
  await collector.stop();
  box.remove();
});

const post = async (headers: Record<string, string>) =>
  (await fetch(`http://127.0.0.1:${collector.port}/hook`, { method: 'POST', body: '{}', headers })).status;

const Report = z.object({
  findings: z.array(
    z.object({ check: z.string(), state: z.string(), message: z.string(), mend: z.string().optional() }),
  ),
});

async function http() {
  const { findings } = Report.parse((await box.flipstream(['doctor', '--json'])).json());
  return findings.find(({ check }) => check === 'http');
}

test('doctor counts what was refused, by reason, and says what to do', async () => {
  expect(await http()).toMatchObject({ state: 'ok', message: expect.stringContaining('refused nothing') });
  const refused = [
    await post({ authorization: 'Bearer guessed' }),
    await post({ authorization: 'Bearer guessed again' }),
    await post({ authorization: `Bearer ${TOKEN}`, origin: 'http://evil.example' }),
  ];
  expect(refused.every((status) => status >= 400)).toBe(true);
  await vi.waitFor(async () =>
    expect(await http()).toEqual({
      check: 'http',
      state: 'warning',
      message: 'The http transport refused requests: 1 for origin, 2 for token.',
      mend: expect.stringContaining('init claude-code --transport http'),
    }),
  );
});
