/** Issue 6, "What bad input gets": the rest is imported, and the report says what was not. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, jsonl, transcript } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

const good = () => jsonl(transcript());
const messages = () => bench.log.events.filter(({ type }) => type === 'message').length;

test('a cut-off last line and a line that is no JSON are refused, and the rest is imported', async () => {
  bench.file('a.jsonl', `${good()}not json\n${JSON.stringify(transcript()[0]).slice(0, 40)}`);
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'no JSON': 1, 'a last line that is cut off': 1 });
  expect(report.refused.map(({ at }) => at)).toEqual(['line 5', 'line 6']);
  expect(messages()).toBe(2);
});

test('invalid UTF-8 refuses its line alone', async () => {
  bench.file('a.jsonl', Buffer.concat([Buffer.from('{"a":"\xff"}\n', 'latin1'), Buffer.from(good())]));
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'invalid UTF-8': 1 });
  expect(messages()).toBe(2);
});

test('gzip, zstd and a wrong extension are read by what they hold', async () => {
  bench.file('a.jsonl.gz', gzipSync(good()));
  bench.file('b.txt', zstdCompressSync(jsonl(transcript('s2').map((row) => ({ ...row, uuid: undefined })))));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(new Set(bench.log.events.map(({ original_id }) => original_id).filter(Boolean))).toEqual(
    new Set(['s1', 's2']),
  );
});

test('a gzip that is cut off gives what was before the cut', async () => {
  const many = jsonl(
    Array.from({ length: 900 }, (_, n) => ({ ...transcript()[0], uuid: `u${n}`, x: Math.random() })),
  );
  const zipped = gzipSync(many);
  bench.file('a.jsonl.gz', zipped.subarray(0, zipped.length >> 1));
  const report = await bench.run();
  expect(Object.keys(report.reasons)).toContain('a compressed file that is damaged or cut off');
  expect(messages()).toBeGreaterThan(50);
});

test('a symlink loop is said, duplicate files bring nothing twice, other files are passed over', async () => {
  const path = bench.file('a.jsonl', good());
  copyFileSync(path, join(bench.folder, 'copy.jsonl'));
  symlinkSync(path, join(bench.folder, 'link.jsonl'));
  symlinkSync(bench.folder, join(bench.folder, 'circle'));
  symlinkSync('loop', join(bench.folder, 'loop'));
  bench.file('notes.md', '# notes');
  bench.file('package.json', '{"name":"x"}');
  const report = await bench.run();
  expect(report.reasons).toEqual({
    'a symlink that leads to itself': 1,
    'a symlink to a folder that it lies in': 1,
    'no format that is known': 1,
  });
  expect(report.skipped).toBe(1);
  expect(report.formats['claude-code']).toMatchObject({
    files: 2,
    events: 4,
    mapped: 3,
    already: 3,
    repeated: 2,
  });
});

test('a symlink to a folder above the one that was named leads out of it, and is refused in its own place', async () => {
  const own = bench.file('named/a.jsonl', good());
  bench.file('other.jsonl', jsonl(transcript('s2')));
  mkdirSync(join(bench.folder, 'beside', 'deep'), { recursive: true });
  symlinkSync('..', join(bench.folder, 'named', 'up'));
  symlinkSync(join('..', 'beside', 'deep'), join(bench.folder, 'named', 'across'));
  symlinkSync(join('..', '..'), join(bench.folder, 'beside', 'deep', 'up'));
  const report = await bench.run(dirname(own));
  expect(report.refused.map(({ path, reason }) => [relative(bench.folder, path), reason]).sort()).toEqual([
    [join('named', 'across', 'up'), 'a symlink to a folder that it lies in'],
    [join('named', 'up'), 'a symlink to a folder that it lies in'],
  ]);
  expect(report.formats['claude-code']?.files).toBe(1);
});

test('a folder reached twice, but by no circle, is read once and nothing is refused', async () => {
  bench.file('real/a.jsonl', good());
  symlinkSync(join(bench.folder, 'real'), join(bench.folder, 'again'));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(report.formats['claude-code']?.files).toBe(1);
});

test('formats mixed in a folder go each their way; events without a clock keep their order', async () => {
  bench.file('a.jsonl', good());
  const steps = [{ action: 'ls', observation: 'x', response: 'look', thought: 'look' }];
  const history = [
    { role: 'system', content: 'be good' },
    { role: 'user', content: 'fix' },
    { role: 'assistant', content: 'look' },
  ];
  bench.file('b.traj', JSON.stringify({ environment: 'task-1', trajectory: steps, history, info: {} }));
  const report = await bench.run();
  expect(Object.keys(report.formats).sort()).toEqual(['claude-code', 'swe-agent']);
  const events = bench.log.events.filter(({ harness }) => harness === 'swe-agent');
  const told = events.map(({ type, kind, role }) => kind ?? role ?? type);
  expect(told).toEqual([
    'session_start',
    'system_prompt',
    'user',
    'assistant',
    'tool_call',
    'submission',
    'session_end',
  ]);
  expect(events.every(({ ts_inferred, synthetic }) => ts_inferred === true || synthetic === true)).toBe(true);
  expect([...events].sort((a, b) => (a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : a.seq - b.seq))).toEqual(events);
});

test('a document that is cut off gives the steps before the cut', async () => {
  const step = (n: number) => ({ action: `ls ${n}`, observation: 'x', response: 'look' });
  const text = JSON.stringify({ environment: 't', trajectory: [step(0), step(1), step(2)] });
  bench.file('b.traj', text.slice(0, -20));
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'a document that is cut off': 1 });
  expect(report.formats['swe-agent']?.tool_calls).toBe(2);
});

test.for([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)(
  'a document in a %s that is cut off gives what it gives when unpacked, once',
  async ([, pack]) => {
    // nothing in it repeats, so that it is several blocks when packed
    const noise = (n: number) =>
      Array.from({ length: 40 }, (_, at) => createHash('sha512').update(`${n} ${at}`).digest('hex')).join(
        ' ',
      );
    const step = (n: number) => ({ action: 'ls', observation: noise(n), response: 'look' });
    const text = JSON.stringify({
      environment: 't',
      trajectory: Array.from({ length: 120 }, (_, n) => step(n)),
    });
    const packed = pack(text);
    bench.file('b.traj', packed.subarray(0, packed.length >> 1));
    const report = await bench.run();
    expect(report.reasons).toEqual({ 'a compressed file that is damaged or cut off': 1 });
    const told = report.formats['swe-agent'];
    expect(told?.tool_calls).toBeGreaterThan(30);
    expect(told?.messages).toBe(told?.tool_calls);
    const again = await bench.run();
    expect(again.formats['swe-agent']).toMatchObject({ events: 0, refused: 1 });
    bench.file('b.traj', packed);
    const whole = await bench.run();
    expect(whole.reasons).toEqual({});
    expect(whole.formats['swe-agent']?.tool_calls).toBe(120 - (told?.tool_calls ?? 0));
    expect(new Set(bench.log.events.map(({ session_id }) => session_id)).size).toBe(1);
  },
);

test('an import that the log stops in the middle loses nothing and tells nothing twice', async () => {
  bench.file('a.jsonl', good());
  bench.log.down = true;
  await expect(bench.run()).rejects.toThrow('the log is down');
  bench.log.down = false;
  await bench.run();
  expect(bench.log.events.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4]);
  expect(bench.log.events.at(-1)?.type).toBe('session_end');
});

test('a first line as long as a whole conversation is seen for what it is', async () => {
  const messages = [
    { role: 'user', content: 'fix' },
    { role: 'assistant', content: 'x'.repeat(1_000_000) },
  ];
  bench.file('chats.jsonl', jsonl([{ messages }, { messages: messages.slice(0, 1) }]));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(report.formats.openai).toMatchObject({ sessions: 2, messages: 3 });
});
