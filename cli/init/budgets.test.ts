/** C1 within its budget: what we do at each event ends before the harness stops waiting, by the times that `init` writes. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Adapter } from '../../producers/adapters/adapter.ts';
import { ADAPTERS } from '../../producers/adapters/choose.ts';
import { payloadsOf } from '../../producers/adapters/sample-payloads.ts';
import { GATE_DEADLINE_MS } from '../../producers/gate/gate.ts';
import { BUDGET_MS, BUDGETS_MS, IDLE_MS } from '../../producers/hook/budgets.ts';
import { SESSION_START_BUDGET_MS } from '../../producers/session-start.ts';
import { loadConfig } from '../config.ts';
import { HARNESSES } from './harnesses.ts';
import type { Target } from './plan.ts';
import { EVENTS, pluginHooks } from './registration.ts';

/** All of a plugin's hooks at Claude Code's SessionEnd together; only a time in the settings raises it. */
const PLUGIN_END_MS = 1_500;
/** Kept for the start of Node, which the harness's clock counts, and for printing what was decided. */
const SPARE_MS = 1_000;

/** Without a time: OpenCode's plugin is our own and waits as long as it takes, Cline waits thirty seconds for each. */
const UNTIMED = ['opencode', 'cline'];
/** Codex gives it 3 s. Nothing is done at it but to record it, and that it is one is known only then. */
const RECORDED_ONLY = ['codex Interrupt'];

const Handler = z.looseObject({ timeout: z.number().optional(), timeoutSec: z.number().optional() });
const Groups = z.record(z.string(), z.array(z.union([z.looseObject({ hooks: z.array(Handler) }), Handler])));
const Nested = z.looseObject({ hooks: z.array(Handler) });

/** Milliseconds by event, as the harness reads what is in its file. */
function timesIn(target: Target, harness: string): [event: string, ms: number][] {
  const hooks = target.kind === 'entries' ? target.hooks : JSON.parse(target.text).hooks;
  return Object.entries(Groups.parse(hooks)).map(([event, [entry]]) => {
    const nested = Nested.safeParse(entry);
    const { timeout, timeoutSec } = Handler.parse(nested.success ? nested.data.hooks[0] : entry);
    const time = timeout ?? timeoutSec ?? Number.NaN;
    return [event, harness === 'gemini' ? time : time * 1_000];
  });
}

function budgetAt(adapter: Adapter, event: string): number {
  const sample = payloadsOf(adapter.harness).find((payload) => adapter.event(payload) === event);
  const moment = sample ? adapter.moment(sample) : null;
  return moment === null ? BUDGET_MS : BUDGETS_MS[moment];
}

const CLAUDE: [event: string, ms: number][] = Object.entries(EVENTS).map(([event, s]) => [event, s * 1_000]);
const config = loadConfig({ HOME: '/h' }, {}, '/h');
const TIMES = [
  ['claude-code', CLAUDE] as const,
  ...HARNESSES.filter(({ name }) => !UNTIMED.includes(name)).map(
    ({ name, targets }) =>
      [name, targets(config, '/n/node').flatMap((target) => timesIn(target, name))] as const,
  ),
];

describe.each(TIMES)('%s', (harness, times) => {
  const adapter = ADAPTERS.find((one) => one.harness === harness);
  if (!adapter) throw new Error(`no adapter of ${harness}`);

  test.each(times.filter(([event]) => !RECORDED_ONLY.includes(`${harness} ${event}`)))(
    'at %s our time is over before its %d ms',
    (event, ms) => {
      expect(budgetAt(adapter, event) + SPARE_MS).toBeLessThanOrEqual(ms);
    },
  );

  test('each moment that has its own time is among them', () => {
    const known = new Set(times.map(([event]) => budgetAt(adapter, event)));
    expect(known).toEqual(new Set([BUDGET_MS, ...Object.values(BUDGETS_MS)]));
  });
});

test('the plugin waits as long as the settings, and a session\u2019s end is over within what plugins are given', () => {
  const times = Object.entries(pluginHooks().hooks).map(([event, [group]]) => [
    event,
    group?.hooks[0]?.timeout,
  ]);
  expect(Object.fromEntries(times)).toEqual(EVENTS);
  expect(BUDGETS_MS.end).toBeLessThan(PLUGIN_END_MS);
});

test('what the hook waits for ends before the hook does: git at a start, the oracle at a stop, a silent writer', () => {
  expect(SESSION_START_BUDGET_MS + SPARE_MS).toBeLessThan(BUDGETS_MS.start);
  expect(IDLE_MS + SPARE_MS).toBeLessThan(BUDGET_MS);
  // it may begin only when a slow payload has come whole
  expect(BUDGET_MS + GATE_DEADLINE_MS + SPARE_MS).toBeLessThan(BUDGETS_MS.stop);
});
