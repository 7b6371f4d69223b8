/** The table of capabilities against what the adapters make of the payloads: yes, partly and no each, and nothing more. */
import { expect, test } from 'vitest';
import {
  CAPABILITIES,
  type Capability,
  type Given,
  HARNESS_CAPABILITIES,
} from '../../schemas/harness-capabilities.ts';
import type { Adapter, RawDraft } from './adapter.ts';
import { ADAPTERS } from './choose.ts';
import { payloadsOf } from './sample-payloads.ts';
import { toolKind } from './tool-kind.ts';

interface Told extends RawDraft {
  /** The subagent that it is of. */
  agent: string | undefined;
}

function toldBy(adapter: Adapter): Told[] {
  const context = { readRules: () => 'rules', facts: {} };
  return payloadsOf(adapter.harness).flatMap((payload) =>
    adapter.drafts(payload, context).map((draft) => ({ ...draft, agent: adapter.agentId(payload) })),
  );
}

function share<T>(of: readonly T[], has: (one: T) => boolean): Given {
  const with_ = of.filter(has).length;
  return with_ === 0 ? 'no' : with_ === of.length ? 'yes' : 'partly';
}

const any = (told: readonly Told[], has: (one: Told) => boolean): Given => (told.some(has) ? 'yes' : 'no');
const isEnd = ({ role }: Told) => role === 'call_ended';
const isCall = (one: Told) => isEnd(one) || one.role === 'call_started';
const isShell = ({ fields }: Told) => toolKind(String(fields.tool_name)) === 'shell';
const isSaid = ({ type, fields, agent }: Told) =>
  type === 'message' && fields.role === 'assistant' && agent === undefined;

/** A session's drafts from one start to the next. */
function starts(told: readonly Told[]): Told[][] {
  const sessions: Told[][] = [];
  for (const one of told) {
    if (one.type === 'session_start') sessions.push([]);
    sessions.at(-1)?.push(one);
  }
  return sessions;
}

const MEASURES: Readonly<Record<Capability, (told: readonly Told[], adapter: Adapter) => Given>> = {
  prompt: (told) => any(told, ({ type, fields }) => type === 'message' && fields.role === 'user'),
  // the last message of a turn alone is not all that was said in it
  assistant_text: (told) =>
    told.some((one) => isSaid(one) && one.role !== 'last_message')
      ? 'yes'
      : told.some(isSaid)
        ? 'partly'
        : 'no',
  tool_input: (told) => share(told.filter(isCall), ({ content }) => content.input !== undefined),
  tool_output: (told) =>
    share(told.filter(isEnd), ({ content }) => (content.output ?? content.result) !== undefined),
  tool_failure: (told) => any(told, (one) => isEnd(one) && one.fields.status === 'error'),
  exit_code: (told) =>
    share(
      told.filter((one) => isEnd(one) && isShell(one)),
      ({ fields }) => typeof fields.exit_code === 'number',
    ),
  duration: (told) => share(told.filter(isEnd), ({ fields }) => typeof fields.duration_ms === 'number'),
  // else it is known that there was one, and not which calls are its own
  subagents: (told) =>
    told.some(({ agent }) => agent !== undefined)
      ? 'yes'
      : told.some(({ fields }) => String(fields.kind).startsWith('subagent_'))
        ? 'partly'
        : 'no',
  model: (told) =>
    share(starts(told), (session) => session.some(({ fields }) => typeof fields.model === 'string')),
  tokens: (told) => any(told, ({ fields }) => fields.kind === 'usage'),
  stop_refusal: (_, { hold }) => (hold === undefined ? 'no' : hold.by === 'refusal' ? 'yes' : 'partly'),
  session_end: (told) => any(told, ({ type }) => type === 'session_end'),
};

/** Given by all of the payloads, and yet not always: what is missing in other sessions has no payload. */
const NOT_ALWAYS: Readonly<Record<string, readonly Capability[]>> = {
  'claude-code': ['exit_code', 'session_end'],
  codex: ['tool_output'],
  cursor: ['prompt', 'assistant_text'],
};

test.each(ADAPTERS.map((adapter) => [adapter.harness, adapter] as const))(
  '%s tells what the table says, no less and no more',
  (harness, adapter) => {
    const told = toldBy(adapter);
    const measured = CAPABILITIES.map((name) => {
      const given = MEASURES[name](told, adapter);
      const less = given === 'yes' && NOT_ALWAYS[harness]?.includes(name);
      return [name, less ? 'partly' : given];
    });
    const row = HARNESS_CAPABILITIES.find((one) => one.harness === harness);
    expect(Object.fromEntries(measured)).toEqual(row?.gives);
  },
);

test('what is given partly says when', () => {
  for (const { harness, gives, notes } of HARNESS_CAPABILITIES)
    for (const name of CAPABILITIES)
      if (gives[name] === 'partly') expect(notes[name], `${harness} ${name}`).toMatch(/./);
});

test('every harness of the table has an adapter, in the same order', () => {
  expect(ADAPTERS.map(({ harness }) => harness)).toEqual(HARNESS_CAPABILITIES.map(({ harness }) => harness));
});

test('an adapter that knows a stop says how an agent is held', () => {
  for (const adapter of ADAPTERS) {
    const stops = payloadsOf(adapter.harness).some((payload) => adapter.moment(payload) === 'stop');
    expect(adapter.hold !== undefined, adapter.harness).toBe(stops);
  }
});
