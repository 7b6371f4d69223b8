/** The floor redaction: speed on recorded trajectories, and that hostile texts cost no more than their length. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { redactJson } from '../producers/redaction/json.ts';
import { redactText } from '../producers/redaction/text.ts';

const MIB = 2 ** 20;
const FOLDER = fileURLToPath(new URL('../../shared/data/trajectories/', import.meta.url));

/** Milliseconds of the fastest of some runs. */
function fastest(runs: number, work: () => void): number {
  const times = Array.from({ length: runs }, () => {
    const from = performance.now();
    work();
    return performance.now() - from;
  });
  return Math.min(...times);
}

const speed = (bytes: number, ms: number) => `${(bytes / MIB / (ms / 1000)).toFixed(0)} MiB/s`;

function recorded(): void {
  if (!existsSync(FOLDER)) {
    console.log('recorded trajectories: skipped, ../shared/data is not beside this clone');
    return;
  }
  const texts = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:jsonl|json|traj)$/.test(name))
    .map((name) => readFileSync(FOLDER + name, 'utf8'));
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const asText = fastest(3, () => {
    for (const text of texts) redactText(text);
  });
  console.log(`recorded trajectories, ${(bytes / MIB).toFixed(1)} MiB, as text: ${speed(bytes, asText)}`);
  const values = texts.flatMap((text): unknown[] =>
    text.startsWith('{"') && text.includes('\n{"')
      ? text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [JSON.parse(text)],
  );
  const asJson = fastest(3, () => {
    for (const value of values) redactJson(value, Number.MAX_SAFE_INTEGER);
  });
  console.log(`recorded trajectories, as JSON, every leaf: ${speed(bytes, asJson)}`);
}

/** Each repeats what some rule begins with and then does not fulfil. */
const HOSTILE: Record<string, string> = {
  'one long word': 'a',
  dashes: '-',
  'names without a sign': 'token_',
  'name=name=name=': 'token=',
  'quotes that never close': 'password="a ',
  'escaped quotes': '\\"token\\":\\"',
  backslashes: 'secret=\\\\\\\\',
  'heads of tokens': 'eyJabcdefghij.eyJ',
  'JWT dots': 'eyJaaaaaaaaaa.',
  addresses: '://a:',
  userinfo: '://aaaaaaaaaa:aaaaaaaaaa',
  'BEGIN without a body': '-----BEGIN PRIVATE KEY-----\n',
  'END without a body': '-----END PRIVATE KEY-----\n',
  'BEGIN with bodies': `-----BEGIN PRIVATE KEY-----\n${'QUJDZWZn'.repeat(8)}\n`,
  'body lines, then ENDs': `${'QUJDZWZn'.repeat(8)}\n`,
  Authorization: 'Authorization: Bearer ',
  'xox heads': 'xoxb-xoxb-',
  'sk- heads': 'sk-',
  'spaces after a name': 'password                ',
};

function hostile(): void {
  console.log('hostile texts: ms for 1 MiB, for 10 MiB, and the ratio (10 is linear)');
  const worst = { name: '', ratio: 0 };
  for (const [name, unit] of Object.entries(HOSTILE)) {
    // Through a buffer: a repeated string is put together only when it is first read.
    const of = (size: number) => Buffer.alloc(size, unit).toString('latin1');
    const [small, large] = [of(MIB), of(10 * MIB)];
    const one = fastest(3, () => redactText(small));
    const ten = fastest(2, () => redactText(large));
    const ratio = ten / one;
    if (ratio > worst.ratio) Object.assign(worst, { name, ratio });
    console.log(
      `  ${name.padEnd(26)} ${one.toFixed(1).padStart(8)} ${ten.toFixed(1).padStart(9)} ${ratio.toFixed(1).padStart(6)}`,
    );
  }
  console.log(`  worst ratio: ${worst.ratio.toFixed(1)} (${worst.name})`);
}

recorded();
hostile();
