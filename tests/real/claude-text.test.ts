/** What the record says is what was said: compared with the model's script and with what the harness sent back to it. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../support/agent.ts';
import { expectChain, landed, verified } from '../support/evidence.ts';
import { bash, call, edit, failThenPass, read, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';
import type { Block, ModelRequest } from '../support/scripted-model.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

/** Results as the model was sent them, by the call's id. */
function resultsIn(request: ModelRequest | undefined): Record<string, unknown> {
  const blocks = (request?.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string' ? [] : content,
  );
  const results = blocks.filter((block) => block.type === 'tool_result');
  return Object.fromEntries(results.map((block) => [String(block.tool_use_id), block.content]));
}

const textsOf = (script: readonly Block[][]) =>
  script.flat().flatMap((block) => (block.type === 'text' ? [block.text] : []));
const callsOf = (script: readonly Block[][]) =>
  script.flat().flatMap((block) => (block.type === 'tool_use' ? [block] : []));

test.concurrent('the text of every assistant message and of every tool result is exactly what was said', async () => {
  const agent = await createAgent(rig, 'text');
  const file = join(agent.clone, 'src', 'notes.txt');
  const lines = Array.from(
    { length: 400 },
    (_, n) => `${n}\tcolumn “${n}” – ñ 漢字 🎉\u200d${'.'.repeat(n % 50)}`,
  );
  writeFileSync(join(agent.clone, 'long.txt'), `${lines.join('\n')}\n`);
  const script = [
    [
      says(
        'I begin.\n\nWith a list:\n- one\n- two\n\n```js\nconst share = "½";\n```\n\nand no newline at the end 🎉',
      ),
      bash('printf "a\\tb\\n\\n  indented\\nlast without newline"'),
    ],
    [
      says('Ünïcode: 漢字, עברית, e\u0301, \u200b, 👩‍👩‍👧.\n'),
      bash('printf \'é\\n漢字\\n👩‍👩‍👧\\n\\\\ backslash "quoted"\\n\''),
    ],
    // no words beside the call
    [bash('cat long.txt')],
    [
      says('Several at once.'),
      read(agent.bill),
      read(join(agent.clone, 'long.txt')),
      bash('true'),
      bash('seq 1 3; echo on stderr >&2'),
    ],
    [says('  leading and trailing spaces  \n\n'), bash('echo out; echo err >&2; exit 7')],
    [says('I write.'), call('Write', { file_path: file, content: 'α\nβ\n\n' })],
    [says('I change it.'), edit(file, 'β', 'β and γ\nδ')],
    [says(`A long one.\n${'word and more words, '.repeat(600)}`), read(file)],
    ...failThenPass(agent.bill),
  ];
  const { sessionId, requests } = await agent.run('Say it — “exactly” 🎉\nso.', script);
  await landed(rig, sessionId, 'ungraded');
  const events = await expectChain(rig, sessionId);

  const assistant = events.filter((event) => event.type === 'message' && event.role === 'assistant');
  expect(assistant.map((event) => event.text_redacted)).toEqual(textsOf(script));
  const prompts = events.filter((event) => event.type === 'message' && event.role === 'user');
  expect(prompts.map((event) => event.text_redacted)).toEqual(['Say it — “exactly” 🎉\nso.']);

  const sent = resultsIn(requests.at(-1));
  const ended = events.filter((event) => event.type === 'tool_call');
  const recorded = Object.fromEntries(ended.map((event) => [event.tool_use_id, event.output_redacted]));
  expect(Object.keys(sent)).toHaveLength(callsOf(script).length);
  expect(recorded).toEqual(sent);
  expect(events.some((event) => event.truncated)).toBe(false);

  const inputs = Object.fromEntries(
    ended.map((event) => [event.tool_use_id, JSON.parse(event.input_redacted ?? '')]),
  );
  for (const one of callsOf(script)) expect(inputs[one.id]).toMatchObject(one.input);
  for (const event of [...assistant, ...ended]) {
    const text = event.text_redacted ?? event.output_redacted ?? '';
    expect(event.text_bytes ?? event.output_bytes).toBe(Buffer.byteLength(text));
  }
});

test.concurrent('a result over the cap keeps its beginning, its length and its hash', async () => {
  const agent = await createAgent(rig, 'cap');
  // the harness itself cuts a command's output far below our cap, but not what is written
  const content = 'κ'.repeat(50_000);
  const write = call('Write', { file_path: join(agent.clone, 'src', 'big.txt'), content });
  const { sessionId } = await agent.run('Write much.', [[write], ...failThenPass(agent.bill)]);
  await landed(rig, sessionId, 'flipped');
  const events = await expectChain(rig, sessionId);
  const event = events.find((one) => one.type === 'tool_call' && one.tool_use_id === write.id);
  expect(event).toMatchObject({ truncated: true, status: 'ok' });
  expect(event?.input_bytes).toBeGreaterThan(100_000);
  expect(event?.input_hash).toMatch(/^[0-9a-f]{64}$/);
  const kept: unknown = JSON.parse(event?.input_redacted ?? '');
  expect(kept).toMatchObject({ file_path: write.input.file_path });
  expect(Buffer.byteLength(event?.input_redacted ?? '')).toBeLessThanOrEqual(64 * 1024);
});

test.concurrent('R4 a secret that a tool prints, writes and reads is nowhere under the home, and the session flips', async () => {
  const agent = await createAgent(rig, 'secret');
  // put together here, so that no scanner of this repository finds one
  const id = ['AKI', 'A', 'Q3EGRIJ7KVN2WLXD'].join('');
  const secret = ['wJalrXUtnFEMI', '/K7MDENG/', 'bPxRfiCYq83hZ0pLm7'].join('');
  const env = join(agent.clone, '.env');
  writeFileSync(env, `AWS_ACCESS_KEY_ID=${id}\nAWS_SECRET_ACCESS_KEY=${secret}\nREGION=eu-north-1\n`);
  writeFileSync(join(agent.clone, '.git', 'info', 'exclude'), '.env\n');
  const script = [
    [says('I look at the configuration.'), bash('cat .env'), read(env)],
    [says(`It has ${id} in it.`), bash(`export AWS_SECRET_ACCESS_KEY=${secret}; cat .env >&2; exit 1`)],
    [bash(`grep -o ${id} .env; grep REGION .env`)],
    ...failThenPass(agent.bill),
  ];
  const { sessionId, requests } = await agent.run(`The key is ${id}.`, script);
  expect(JSON.stringify(requests.at(-1))).toContain(secret);
  await landed(rig, sessionId, 'flipped');
  const events = await expectChain(rig, sessionId);
  const shown = events.find((event) => event.tool_name === 'Bash' && event.type === 'tool_call');
  expect(shown?.output_redacted).toMatch(/^AWS_ACCESS_KEY_ID=\[REDACTED:[\w-]+\]\n/);
  expect(shown?.output_redacted).toMatch(/\nREGION=eu-north-1$/);
  expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });

  const files = readdirSync(rig.config.home.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const kind of ['log.db', 'collector.db', '.parquet', '.jsonl'])
    expect(
      files.some((name) => name.endsWith(kind)),
      kind,
    ).toBe(true);
  const holding = files.filter((name) => {
    const bytes = readFileSync(name);
    return bytes.includes(id) || bytes.includes(secret);
  });
  expect(holding).toEqual([]);
  // Parquet pages are compressed, so the warehouse is asked as well
  const found = await rig.sql(
    `SELECT count(*) n FROM events e WHERE contains(e::VARCHAR, '${id}') OR contains(e::VARCHAR, '${secret}')`,
  );
  expect(found).toEqual([{ n: 0 }]);
});
