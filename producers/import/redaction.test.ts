/** Imported files go through the redaction that live events do: no secret of theirs comes to the log or the disk. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, jsonl, transcript } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

// put together here, so that no scanner of this repository finds them
const KEY = `AKIA${'QWERTYUIOPASDFGH'}`;
const TOKEN = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`;

/** All bytes below the home. */
function disk(): string {
  const files = readdirSync(bench.home.root, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    .join('\n');
}

test('a secret in a prompt, an answer, a call, its result, a notice or the head of a document is replaced', async () => {
  const said = (role: string, content: unknown) => ({ type: role, message: { role, content } });
  const row = (n: number, rest: object) => ({
    ...{ ...transcript('s1')[0], uuid: `more ${n}`, message: undefined },
    ...rest,
  });
  bench.file(
    'a.jsonl',
    jsonl([
      row(1, said('user', `use ${KEY}`)),
      row(2, said('assistant', [{ type: 'text', text: `I use ${TOKEN}` }])),
      row(3, said('assistant', [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: KEY } }])),
      row(4, {
        ...said('user', [{ type: 'tool_result', tool_use_id: 't', content: `is ${TOKEN}` }]),
        toolUseResult: { stdout: KEY },
      }),
      row(5, { type: 'system', subtype: 'told', note: KEY }),
    ]),
  );
  const traj = {
    ...{ environment: 'task', replay_config: { token: TOKEN } },
    trajectory: [{ action: `echo ${KEY}`, observation: KEY, response: KEY }],
    info: { submission: `+${TOKEN}` },
  };
  bench.file('b.traj', JSON.stringify(traj));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(bench.log.events.length).toBeGreaterThan(8);
  for (const secret of [KEY, TOKEN]) {
    expect(JSON.stringify(bench.log.events)).not.toContain(secret);
    expect(disk()).not.toContain(secret);
  }
  const prompt = bench.log.events.find(({ type }) => type === 'message');
  expect(prompt?.text_redacted).toMatch(/^use .*REDACTED/i);
});
