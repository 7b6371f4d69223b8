/**
 * The second scan with everything on, beside secretlint alone on the same text in the same run, one core.
 * Text: the real trajectories beside the repository where they are, else made-up transcripts; in events of
 * about 2 KB and of about 60 KB, JSON and text.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import type { TraceEvent } from '../schemas/generated.ts';
import { saltedDigest } from '../schemas/hash.ts';
import { blankEvent } from '../schemas/testing.ts';
import { prepare } from '../streams/redact/scan.ts';

const MIB = 2 ** 20;
const REAL = new URL('../../shared/data/trajectories/', import.meta.url);
const ROUNDS = 5;

function realText(): string {
  if (!existsSync(REAL)) return '';
  return readdirSync(REAL, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'))
    .join('\n');
}

function madeText(): string {
  const line = (n: number) =>
    `src/module_${n % 97}.py:${n}: def handler_${n}(request, token=None): return "${n * 7919}"\n`;
  return Array.from({ length: 40_000 }, (_, n) => line(n)).join('');
}

function eventsOf(text: string, size: number, json: boolean): { value: TraceEvent }[] {
  const events: { value: TraceEvent }[] = [];
  for (let at = 0; at < text.length; at += size) {
    const part = text.slice(at, at + size).toWellFormed();
    const content = json ? JSON.stringify({ stdout: part, interrupted: false }) : part;
    const salt = '00'.repeat(16);
    const value: TraceEvent = {
      ...blankEvent(),
      type: 'tool_call',
      salt,
      output_redacted: content,
      output_digest: saltedDigest(salt, content),
    };
    events.push({ value });
  }
  return events;
}

/** secretlint as its own documentation has one call it. */
function secretlint(content: string) {
  const rules = [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }];
  return lintSource({
    source: { content, filePath: 'x.txt', ext: '.txt', contentType: 'text' },
    options: { noPhysicFilePath: true, config: { rules } },
  });
}

/** MiB a second of this process's own processor time, the best of some rounds: other work on the machine only ever makes it slower. */
async function rate(chars: number, work: () => Promise<void>): Promise<number> {
  let best = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, chars / MIB / ((user + system) / 1e6));
  }
  return best;
}

async function measure(name: string, text: string, size: number, json: boolean): Promise<void> {
  const events = eventsOf(text, size, json);
  const contents = events.map(({ value }) => value.output_redacted ?? '');
  const joined = contents.join('\n');
  const alone = await rate(joined.length, async () => {
    for (let at = 0; at < joined.length; at += MIB) await secretlint(joined.slice(at, at + MIB));
  });
  const found = { nothing: 0, replaced: 0, doubt: 0, unscanned: 0 };
  const everything = await rate(joined.length, async () => {
    let batch: typeof events = [];
    let length = 0;
    for (const event of events) {
      batch.push(event);
      length += event.value.output_redacted?.length ?? 0;
      if (length < MIB) continue;
      for (const result of await prepare(batch)) found[result.found]++;
      batch = [];
      length = 0;
    }
    for (const result of await prepare(batch)) found[result.found]++;
  });
  const of = (count: number) => count / ROUNDS;
  console.log(
    `${name}, ${Math.round(size / 1024)} KiB ${json ? 'JSON' : 'text'} events, ${(joined.length / MIB).toFixed(1)} Mi chars: everything on ${everything.toFixed(0)} MiB/s, secretlint alone ${alone.toFixed(0)} MiB/s; ${events.length} events: ${of(found.replaced)} redacted, ${of(found.doubt)} quarantined`,
  );
}

const real = realText();
for (const [name, text] of [
  ['real trajectories', real.repeat(2)],
  ['made up', madeText()],
] as const) {
  if (text === '') console.log(`${name}: not here, skipped`);
  else
    for (const size of [2048, 61_440])
      for (const json of [false, true]) await measure(name, text, size, json);
}
