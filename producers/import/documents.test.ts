/** Documents without an id of their own: those that grow keep the one they have, and no two share one. */
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { createDocuments } from './documents.ts';
import { type Bench, importBench, jsonl, toldTo } from './testing.ts';

const elements = fc.array(fc.constantFrom('a', 'b'), { maxLength: 5 });
const imports = fc.array(fc.record({ place: fc.constantFrom('p', 'q'), elements }), { maxLength: 30 });

test.prop([imports])('of all documents with one id, each is the beginning of the next', (all) => {
  const kept = new Map<string, string>();
  const store = {
    meta: (name: string) => kept.get(name) ?? null,
    putMeta: (name: string, value: string) => void kept.set(name, value),
  };
  const byId = new Map<string, Set<string>>();
  for (const { place, elements: own } of all) {
    const name = place === 'q' ? 'named' : undefined;
    const outline = createDocuments(store).outline('f', place, ['steps'], name);
    for (const element of own) outline.element('steps', Buffer.from(element));
    const id = outline.end(sha256(own.join()));
    byId.set(id, (byId.get(id) ?? new Set()).add(own.join('')));
  }
  for (const documents of byId.values()) {
    const sorted = [...documents].sort((one, other) => one.length - other.length);
    for (const [at, document] of sorted.entries())
      expect((sorted[at + 1] ?? document).startsWith(document)).toBe(true);
  }
});

describe('a document that grew', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = importBench();
  });
  afterEach(() => bench.remove());

  const step = (n: number) => ({ action: `ls ${n}`, observation: 'x', response: `look ${n}` });
  const traj = (steps: number, more: object = {}) => ({
    ...{ environment: 'task-1', history: [{ role: 'user', content: 'fix' }] },
    ...{ trajectory: Array.from({ length: steps }, (_, n) => step(n)), info: { exit_status: null }, ...more },
  });
  const mini = (n: number) => ({
    info: { exit_status: `state ${n}`, mini_version: '2' },
    messages: [
      { role: 'user', content: 'fix' },
      ...Array.from({ length: n }, (_, at) => ({ role: 'assistant', content: `look ${at}` })),
    ],
    trajectory_format: 'mini-swe-agent-1.1',
  });
  const openhands = (n: number) =>
    Array.from({ length: n + 1 }, (_, id) => ({
      ...{ id, source: id === 0 ? 'user' : 'agent', action: 'message', args: { content: `look ${id - 1}` } },
    }));
  const shepherd = (n: number) =>
    Array.from({ length: n + 1 }, (_, at) => ({
      ...(at === 0 ? { effect_type: 'prompt_sent', user_prompt: 'fix' } : {}),
      ...(at > 0 ? { effect_type: 'agent_message', content: `look ${at - 1}` } : {}),
    }));
  const atif = (n: number) => ({
    ...{ schema_version: 'ATIF-v1.7', agent: { name: 'a', version: '1' }, final_metrics: { total_steps: n } },
    steps: Array.from({ length: n }, (_, at) => ({
      ...{ step_id: at + 1, source: 'agent', message: `look ${at}` },
    })),
  });

  test.each([
    ['SWE-agent', traj],
    ['mini-swe-agent', mini],
    ['OpenHands', openhands],
    ['Shepherd', shepherd],
    ['ATIF', atif],
  ])('brings what is new: %s', async (_, document) => {
    const write = (n: number) => bench.file('a.json', JSON.stringify(document(n), null, 2));
    for (const n of [1, 3, 3, 4]) {
      write(n);
      expect((await bench.run()).reasons).toEqual({});
    }
    const said = toldTo(bench).filter((one) => /^assistant look \d$/.test(one));
    expect(said).toEqual([0, 1, 2, 3].map((n) => `assistant look ${n}`));
    const sessions = new Set(bench.log.events.map(({ session_id }) => session_id));
    expect(sessions.size).toBe(1);
    const elsewhere = importBench();
    elsewhere.file('a.json', JSON.stringify(document(4), null, 2));
    await elsewhere.run();
    elsewhere.remove();
    expect(new Set(elsewhere.log.events.map(({ session_id }) => session_id))).not.toEqual(sessions);
  });

  test('tells what came of it anew', async () => {
    bench.file('a.traj', JSON.stringify(traj(1)));
    await bench.run();
    bench.file('a.traj', JSON.stringify(traj(2, { info: { exit_status: 'submitted', submission: 'diff' } })));
    await bench.run();
    await bench.run();
    const ends = bench.log.events.filter(({ kind }) => kind === 'submission');
    expect(ends.map(({ reason }) => reason)).toEqual([null, 'submitted']);
  });

  test('is the same as its copies; a copy that went on otherwise, another run, and one elsewhere are their own', async () => {
    const first = bench.file('a.traj', JSON.stringify(traj(1)));
    copyFileSync(first, join(bench.folder, 'b.traj'));
    await bench.run();
    const sessions = () => new Set(bench.log.events.map(({ session_id }) => session_id)).size;
    expect(sessions()).toBe(1);
    bench.file('a.traj', JSON.stringify(traj(2)));
    await bench.run();
    expect(sessions()).toBe(1);
    bench.file('b.traj', JSON.stringify({ ...traj(1), trajectory: [step(0), step(7)] }));
    await bench.run();
    expect(sessions()).toBe(2);
    bench.file('a.traj', JSON.stringify({ ...traj(1), trajectory: [step(5), step(1), step(2)] }));
    await bench.run();
    expect(sessions()).toBe(3);
    renameSync(join(bench.folder, 'b.traj'), join(bench.folder, 'c.traj'));
    await bench.run();
    expect(sessions(), 'moved as it is').toBe(3);
    bench.file('c.traj', JSON.stringify({ ...traj(1), trajectory: [step(0), step(7), step(8)] }));
    await bench.run();
    expect(sessions(), 'and grown where it was seen').toBe(3);
  });

  test('a conversation grows too, by its id or its line; two that share an id are two', async () => {
    const messages = (n: number, of = 'look') => [
      { role: 'user', content: 'fix' },
      ...Array.from({ length: n }, (_, at) => ({ role: 'assistant', content: `${of} ${at}` })),
    ];
    const lines = (n: number) => [{ id: 'x', messages: messages(n) }, { messages: messages(n, 'see') }];
    for (const n of [1, 3]) {
      bench.file('a.jsonl', jsonl(lines(n)));
      await bench.run();
    }
    bench.file('b.jsonl', jsonl([{ id: 'x', messages: messages(2, 'other') }, ...lines(3)]));
    expect((await bench.run()).reasons).toEqual({});
    const said = (name: string) => toldTo(bench).filter((one) => one.startsWith(`assistant ${name}`)).length;
    expect([said('look'), said('see'), said('other')]).toEqual([3, 3, 2]);
    const sessions = new Set(bench.log.events.map(({ session_id }) => session_id));
    expect(sessions.size).toBe(3);
    expect(sessions).toContain('import:openai:x');
  });
});
