import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readLosses } from '../spool/losses.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { realDisk } from '../spool/put.ts';
import { hookInProcess, hookProcess, type Place, spooled, temporaryHome } from './testing.ts';

let place: Place;
beforeEach(() => {
  place = temporaryHome();
});
afterEach(() => place.remove());

const payload = (event: string, fields: object = {}): string =>
  JSON.stringify({ session_id: 's1', cwd: place.root, hook_event_name: event, ...fields });
const call = (id: string, fields: object = {}) =>
  payload('PostToolUse', { tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'ls' }, ...fields });
const silent = { code: 0, stdout: '', stderr: '' };

describe('C1 whatever is down behind it', () => {
  test('with nothing there at all, the event is in the spool when the hook returns', async () => {
    expect(await hookProcess(place.home, call('t'))).toMatchObject(silent);
    expect(spooled(place.home)).toHaveLength(1);
    expect(existsSync(place.home.collectorSocket)).toBe(false);
  });

  test('a dead collector’s socket, a broken configuration and no git change nothing at start, stop and end', async () => {
    mkdirSync(place.home.root, { recursive: true });
    writeFileSync(place.home.config, '{"collector": {"node": 1');
    writeFileSync(place.home.collectorSocket, '');
    for (const event of ['SessionStart', 'Stop', 'SessionEnd']) {
      const ran = await hookProcess(place.home, payload(event), { env: { PATH: '/nonexistent' } });
      expect(ran).toMatchObject(silent);
    }
    expect(spooled(place.home).map((entry) => entry.harness_event)).toEqual([
      'SessionStart',
      'Stop',
      'SessionEnd',
    ]);
  });

  test('a home that cannot be written', async () => {
    writeFileSync(join(place.root, 'home'), 'a file where the directory should be');
    expect(await hookProcess(place.home, call('t'))).toMatchObject(silent);
  });

  test('the disk full: nothing printed, the loss counted', async () => {
    prepareSpool(place.home);
    const full = () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    expect(await hookInProcess(place.home, call('t'), { disk: { ...realDisk, write: full } })).toBe('');
    expect(readLosses(place.home).count).toBe(1);
  });
});

test('C3 parallel tool calls: 32 hooks at once on one session leave 32 entries, each whole', async () => {
  const ids = Array.from({ length: 32 }, (_, index) => `toolu_${index}`);
  const ran = await Promise.all(
    ids.map((id) => hookProcess(place.home, call(id, { tool_response: { stdout: 'x'.repeat(9000) } }))),
  );
  for (const one of ran) expect(one).toMatchObject(silent);
  const entries = spooled(place.home);
  expect(entries.map((entry) => entry.drafts[0]?.own_id).sort()).toEqual([...ids].sort());
  expect(new Set(entries.map((entry) => entry.drafts[0]?.content.input?.hash)).size).toBe(1); // one key for all
  expect(readdirSync(join(place.home.spool, 'tmp'))).toEqual([]);
});

test('C4 registered twice: both entries name the same event, by the harness’s id or by the payload', async () => {
  for (const text of [call('t'), payload('UserPromptSubmit', { prompt: 'do it' })])
    for (const registration of ['settings', 'plugin']) await hookProcess(place.home, text, { registration });
  const [a, b, c, d] = spooled(place.home);
  expect([a?.registration, b?.registration]).toEqual(['settings', 'plugin']);
  expect(a?.drafts).toEqual(b?.drafts);
  expect(a?.drafts[0]).toMatchObject({ own_id: 't', phase: 'ended' });
  expect(c?.payload_hash).toBe(d?.payload_hash);
  expect(c?.drafts).toEqual(d?.drafts);
});

test('C6 a subagent’s events carry its id; its stop asks no gate and ends no session', async () => {
  const fields = { agent_id: 'a1', agent_type: 'Explore', last_assistant_message: 'found it' };
  for (const event of ['SubagentStop', 'Stop'])
    expect(await hookInProcess(place.home, payload(event, fields))).toBe('');
  for (const entry of spooled(place.home)) {
    expect(entry.agent_id).toBe('a1');
    expect(entry.drafts.map((draft) => draft.type)).not.toContain('session_end');
  }
});

describe('C9 bad input', () => {
  test.each([
    ['nothing', '', { count: 0 }],
    ['half an object', '{"session_id":"s9","hook_event_name":"PostToolUse","tool_resp', { count: 61 }],
    ['an array', '[1,2]', { count: 5 }],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), { count: 3 }],
  ])('%s is kept as a notice', async (_name, input, fields) => {
    expect(await hookProcess(place.home, input)).toMatchObject(silent);
    const [entry] = spooled(place.home);
    expect(entry?.drafts[0]).toMatchObject({ type: 'notice', kind: 'unparseable', fields });
  });

  test('half an object still says whose it is, and is redacted', async () => {
    await hookInProcess(place.home, `{"session_id":"s9","api_key":"abc123def456`);
    const [entry] = spooled(place.home);
    expect(entry?.session_id).toBe('s9');
    expect(entry?.drafts[0]?.content.text?.text).toBe('{"session_id":"s9","api_key":"[REDACTED:named_value]');
  });

  test('NUL, lone surrogates and __proto__ as a key', async () => {
    const input = `{"session_id":"s1","cwd":"/","hook_event_name":"PreToolUse","tool_use_id":"t","tool_input":{"__proto__":{"x":1},"a":"\\u0000\\ud800"}}`;
    expect(await hookProcess(place.home, input)).toMatchObject(silent);
    const [entry] = spooled(place.home);
    expect(JSON.parse(entry?.drafts[0]?.content.input?.text ?? '')).toHaveProperty('a', '\u0000\ufffd');
    expect(entry?.drafts[0]?.content.input?.text).toContain('"__proto__":{"x":1}');
  });

  test('50 MB of output are recorded, cut, with their length', async () => {
    const stdout = 'line of output\n'.repeat(3_500_000);
    expect(await hookProcess(place.home, call('big', { tool_response: { stdout } }))).toMatchObject(silent);
    const content = spooled(place.home)[0]?.drafts[0]?.content.result;
    expect(content).toMatchObject({ cut: true });
    expect(content?.bytes).toBeGreaterThan(52_500_000);
    expect(content?.text.length).toBeLessThanOrEqual(64 * 1024);
  });

  test('over the limit: length and hash, under its session', async () => {
    await hookInProcess(place.home, call('big', { tool_response: 'x'.repeat(5000) }), { inputLimit: 1000 });
    const [entry] = spooled(place.home);
    expect(entry).toMatchObject({ session_id: 's1', harness_event: 'PostToolUse' });
    expect(entry?.payload_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(entry?.drafts[0]).toMatchObject({
      kind: 'payload_too_large',
      fields: { kind: 'payload_too_large' },
    });
    expect(entry?.drafts[0]?.fields.count).toBeGreaterThan(5000);
  });

  test('a writer that goes silent: what is whole is taken at once, what is half after a while', async () => {
    const [whole, half] = await Promise.all([
      hookProcess(place.home, call('t'), { hang: true }),
      hookProcess(place.home, '{"session_id":"s2","x', { hang: true }),
    ]);
    expect([whole, half]).toMatchObject([silent, silent]);
    expect(
      spooled(place.home)
        .map((entry) => entry.session_id)
        .sort(),
    ).toEqual(['s1', 's2']);
  });
});

test('C10 nothing depends on the harness’s own files: the transcript need not exist', async () => {
  const transcript = { transcript_path: join(place.root, 'gone.jsonl'), last_assistant_message: 'bye' };
  await hookProcess(place.home, payload('Stop', transcript));
  expect(spooled(place.home)[0]?.drafts[0]).toMatchObject({
    role: 'last_message',
    content: { text: { text: 'bye' } },
  });
});

test('C11 compaction is an event, written when it happens', async () => {
  await hookInProcess(place.home, payload('PostCompact', { trigger: 'auto', compact_summary: 'so far' }));
  expect(spooled(place.home)[0]?.drafts[0]).toMatchObject({ kind: 'compaction', fields: { reason: 'auto' } });
});

describe('silence', () => {
  test('FLIPSTREAM_OFF=1', async () => {
    expect(await hookProcess(place.home, call('t'), { env: { FLIPSTREAM_OFF: '1' } })).toMatchObject(silent);
    expect(existsSync(place.home.spool)).toBe(false);
  });

  test.each([
    ['paused', () => [place.home.paused, '']],
    ['a repository’s off file', () => [join(place.root, '.flipstream', 'off'), '']],
    ['a repository’s configuration', () => [join(place.root, '.flipstream', 'config.json'), '{"off": true}']],
  ])('%s', async (_name, file) => {
    const [path = '', text = ''] = file();
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
    const cwd = join(place.root, 'deep', 'inside');
    for (const event of ['SessionStart', 'PostToolUse', 'Stop'])
      expect(await hookInProcess(place.home, payload(event, { cwd }))).toBe('');
    expect(spooled(place.home)).toEqual([]);
  });
});

test('a rule file’s text is kept, redacted', async () => {
  const file = join(place.root, 'CLAUDE.md');
  writeFileSync(file, 'Be kind.\nAPI_KEY=abc123def456\n');
  await hookInProcess(place.home, payload('InstructionsLoaded', { file_path: file, memory_type: 'Project' }));
  const [draft] = spooled(place.home)[0]?.drafts ?? [];
  expect(draft?.content.text?.text).toBe('Be kind.\nAPI_KEY=[REDACTED:named_value]\n');
});
