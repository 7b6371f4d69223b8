/** `verify` on the bundle of a session that really ran: hook, collector, gate, oracle, streams and sink as processes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHarness } from '../../cli/demo/harness.ts';
import { firstAttempt, PROMPT, secondAttempt } from '../../cli/demo/script.ts';
import { type Bundle, bundleText, makeBundle, parseOneFile } from '../../cli/verify/bundle.ts';
import { checkBundle } from '../../cli/verify/check.ts';
import { canonical } from '../../schemas/canonical.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { KeyRing } from '../../schemas/signature.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
let path = '';
let bundle: Bundle;
let events: TraceEvent[] = [];
let verdicts: Verdict[] = [];
let ring: KeyRing;
/** How many events, from the first on, the last signed head covers. */
let attested = 0;

beforeAll(async () => {
  rig = await startRig();
  const clone = await rig.clone('clone');
  const harness = createHarness(rig.config.home, clone, rig.env);
  await harness.start('scripted-model');
  await harness.prompt(PROMPT);
  for (const step of firstAttempt(clone)) await harness.step(step);
  expect(await harness.stop('Done.')).not.toBeNull();
  for (const step of secondAttempt(clone)) await harness.step(step);
  expect(await harness.stop('Now it is.')).toBeNull();
  await harness.end();
  const landed = async () => {
    const [row] = await rig.sql(
      `SELECT outcome, ended FROM sessions WHERE session_id = '${harness.sessionId}'`,
    );
    return row;
  };
  const deadline = performance.now() + 60_000;
  while ((await landed())?.ended !== true || (await landed())?.outcome !== 'flipped') {
    if (performance.now() > deadline) throw new Error('the session has not landed');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  path = join(rig.place.root, 'bundle.jsonl');
  const exported = await rig.flipstream(['session', 'export', harness.sessionId, '--out', path]);
  if (exported.code !== 0) throw new Error(exported.err);
  bundle = parseOneFile(readFileSync(path), path);
  events = bundle.events.map((line) => jsonReader('TraceEvent')(JSON.parse(line)));
  verdicts = bundle.verdicts.map((line) => jsonReader('Verdict')(JSON.parse(line)));
  ring = KeyRing.parse(JSON.parse(bundle.keyRing));
  attested = events.length - checkBundle(bundle, ring).unattested;
});
afterAll(() => rig?.close());

const sessionId = () => events[0]?.session_id ?? '';
/** What the command says of a changed bundle, and what the same check says when the manifest was changed to fit. */
const stateOf = (changed: Partial<Bundle>) => checkBundle({ ...bundle, ...changed }, ring).state;
const refitted = (changed: readonly TraceEvent[]) =>
  checkBundle(makeBundle(sessionId(), changed, verdicts, ring), ring);

/** `events` from `at` on hung anew onto what comes before them. */
function relinked(changed: readonly TraceEvent[], at: number): TraceEvent[] {
  const chain = changed.slice(0, at);
  for (const event of changed.slice(at)) {
    const before = chain.at(-1);
    chain.push({ ...event, seq: chain.length, prev: before ? headerHash(before) : null });
  }
  return chain;
}

async function verify(changed: string): Promise<unknown> {
  const file = join(rig.place.root, 'changed.jsonl');
  writeFileSync(file, changed);
  const ran = await rig.flipstream(['verify', file, '--key-ring', rig.config.home.keyRing, '--json']);
  return { code: ran.code, ...Object(JSON.parse(ran.out)) };
}

test('as it was exported: intact, a flip, with FAIL and PASS signed', async () => {
  expect(await verify(readFileSync(path, 'utf8'))).toMatchObject({
    ...{ code: 0, state: 'intact', flip: true, outcome: 'flipped', problems: [] },
  });
  expect(verdicts.map(({ mode, verdict }) => `${mode} ${verdict}`).sort()).toEqual([
    ...['baseline FAIL', 'grade FAIL', 'grade PASS'],
  ]);
  expect(attested).toBeGreaterThan(15);
  expect(bundleText(bundle)).toBe(readFileSync(path, 'utf8'));
});

test('every event removed in turn is missed; an attested one also where manifest and links were made to fit', async () => {
  for (const at of events.keys()) {
    expect(stateOf({ events: bundle.events.toSpliced(at, 1) }), `event ${at}`).toBe('altered');
    if (at >= attested) continue;
    expect(refitted(events.toSpliced(at, 1)).state).toBe('altered');
    const report = refitted(relinked(events.toSpliced(at, 1), at));
    expect(report).toMatchObject({ state: 'altered', flip: false });
  }
  expect(await verify(bundleText({ ...bundle, events: bundle.events.toSpliced(3, 1) }))).toMatchObject({
    ...{ code: 1, state: 'altered', flip: false },
    problems: expect.arrayContaining([expect.objectContaining({ code: 'event_removed' })]),
  });
});

test('every field that an attested event can have, altered, is found, also with a manifest that fits', async () => {
  let tried = 0;
  const seen = new Set<string>();
  for (const [at, event] of events.slice(0, attested).entries())
    for (const [name, value] of Object.entries(event)) {
      if (value === null || typeof value === 'object') continue;
      if (seen.has(`${event.type} ${name}`)) continue;
      seen.add(`${event.type} ${name}`);
      const other = typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 : `${value}x`;
      const changed = events.with(at, { ...event, [name]: other });
      const lines = bundle.events.with(at, canonical(changed[at]));
      expect(stateOf({ events: lines }), `${name} of event ${at}`).toBe('altered');
      if (tried % 10 === 0 && name !== 'session_id' && name !== 'type')
        expect(refitted(changed).state, name).toBe('altered');
      tried++;
    }
  expect(tried).toBeGreaterThan(100);
  const lied = (bundle.events[5] ?? '').replace(/"text_redacted":"|"cwd":"/, '$&x');
  expect(await verify(bundleText({ ...bundle, events: bundle.events.with(5, lied) }))).toMatchObject({
    ...{ code: 1, state: 'altered' },
  });
});

test('every two neighbours changed about, every event put in twice, and new ones between are found', async () => {
  for (const at of bundle.events.keys()) {
    const line = bundle.events[at] ?? '';
    const twice = bundle.events.toSpliced(at, 0, line);
    expect(stateOf({ events: twice }), `event ${at} twice`).toBe('altered');
    const next = bundle.events[at + 1];
    if (next === undefined) continue;
    expect(stateOf({ events: bundle.events.with(at, next).with(at + 1, line) })).toBe('altered');
    const [event] = events.slice(at, at + 1);
    if (!event || at >= attested) continue;
    const added: TraceEvent = { ...event, event_id: 'f'.repeat(64), text_hash: 'e'.repeat(64) };
    const report = refitted(relinked(events.toSpliced(at + 1, 0, added), at + 1));
    // Behind the last attested event everyone may write: there it is told as unattested, and attests nothing.
    if (at + 1 < attested) expect(report).toMatchObject({ state: 'altered', flip: false });
    else expect(report.unattested).toBe(events.length - attested + 1);
  }
  expect(await verify(bundleText({ ...bundle, events: bundle.events.toReversed() }))).toMatchObject({
    ...{ code: 1, state: 'altered' },
  });
});

test('one changed byte all over every verdict is found', async () => {
  // The events are not needed to see it, and without them ten thousand checks take no time.
  const alone: Bundle = { ...bundle, events: [] };
  const codes = (lines: string[]) =>
    checkBundle({ ...alone, verdicts: lines }, ring).problems.map(({ code }) => code);
  expect(codes(bundle.verdicts)).not.toContain('verdict_altered');
  for (const [at, line] of bundle.verdicts.entries()) {
    const signature = line.indexOf('"signature":');
    expect(codes(bundle.verdicts.with(at, line.replace(':', ': ')))).toContain('verdict_altered');
    for (let byte = 0; byte < line.length; byte++) {
      // Of the signature every one: the last letters of base64 carry bits that mean nothing.
      if (byte % 3 !== 0 && (byte < signature || byte > signature + 110)) continue;
      const bytes = Buffer.from(line);
      bytes[byte] = (bytes[byte] ?? 0) ^ 1;
      const found = codes(bundle.verdicts.with(at, bytes.toString('latin1')));
      expect(found.some((code) => code === 'verdict_altered' || code === 'verdict_refused')).toBe(true);
    }
  }
  const pass = bundle.verdicts.findIndex(
    (line) => line.includes('"verdict":"FAIL"') && line.includes('"grade"'),
  );
  const lied = (bundle.verdicts[pass] ?? '').replace('"verdict":"FAIL"', '"verdict":"PASS"');
  expect(await verify(bundleText({ ...bundle, verdicts: bundle.verdicts.with(pass, lied) }))).toMatchObject({
    ...{ code: 1, state: 'altered' },
    problems: expect.arrayContaining([expect.objectContaining({ code: 'verdict_altered' })]),
  });
});
