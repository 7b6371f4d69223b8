import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONTENT_FIELDS, contentOf, contentState } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { anyEvent } from '../../schemas/testing.ts';
import { mixed } from '../testing/mixed.ts';
import { eventRecord } from '../testing/run.ts';
import { beginSession } from '../testing/session.ts';
import { createRedact, type Scanned } from './redact.ts';
import { prepare } from './scan.ts';
import { MAX_CHAINS, MAX_INTERVALS, type Seen, WINDOW } from './seen.ts';

const redact = createRedact();
const NOTHING: Scanned = { found: 'nothing' };

/** Events as they come out, the state frozen and thawed between any two. */
function through(events: readonly TraceEvent[], states: { frozen: string | null } = { frozen: null }) {
  return events.flatMap((event) => {
    const state: Seen | null = states.frozen === null ? null : JSON.parse(states.frozen);
    const step = redact.apply(state, eventRecord(event, 'trace.raw'), NOTHING);
    states.frozen = JSON.stringify(step.state);
    return step.out.flatMap((out) => (out.topic === 'trace.events' ? [out.value] : []));
  });
}

function chainOf(length: number): TraceEvent[] {
  const session = beginSession();
  while (session.events.length < length) session.add({ type: 'notice', kind: 'compaction' });
  return session.events;
}

describe('once each', () => {
  test('P3 redelivered in runs, from any place, as often as one likes: each event once', () => {
    const events = chainOf(60);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 59 }), { maxLength: 8 }), (starts) => {
        const states = { frozen: null };
        const first = through(events.slice(0, 40), states);
        const again = starts.flatMap((start) => through(events.slice(start), states));
        const all = [...first, ...again, ...through(events, states)];
        expect(all.map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(events.map(({ seq }) => seq));
        expect(all.every(({ fork }) => fork === null)).toBe(true);
      }),
    );
  });

  test('any permutation and duplication of the same records: the same events, each once, and of a fork one is no fork', () => {
    const events = chainOf(40);
    const forks = events
      .slice(20, 25)
      .map((event) => ({ ...event, event_id: `${event.seq}`, model: 'other' }));
    const second = chainOf(10).map((event) => ({ ...event, event_id: `2/${event.seq}`, chain_id: 'home-2' }));
    const all = [...events, ...forks, ...second];
    const ids = (list: readonly TraceEvent[]) => list.map(({ event_id }) => event_id).sort();
    fc.assert(
      fc.property(mixed(all), (mix) => {
        const passed = through(mix);
        expect(ids(passed)).toEqual(ids(all));
        const unmarked = passed.filter(({ fork }) => fork === null);
        const places = unmarked.map(({ chain_id, seq }) => `${chain_id} ${seq}`);
        expect(new Set(places).size).toBe(places.length);
        expect(places).toHaveLength(events.length + second.length);
      }),
    );
  });

  test('a fork: both kept, the second one marked, each once', () => {
    const events = chainOf(10);
    const other = events
      .slice(6)
      .map((event) => ({ ...event, model: 'other', event_id: `other-${event.seq}` }));
    const states = { frozen: null };
    const all = through([...events, ...other, ...events, ...other], states);
    expect(all).toHaveLength(14);
    expect(all.filter(({ fork }) => fork).map(({ event_id }) => event_id)).toEqual(
      other.map(({ event_id }) => event_id),
    );
  });

  test('what a host says of a fork is not believed', () => {
    const [event] = chainOf(1);
    if (!event) throw new Error('no event');
    expect(through([{ ...event, fork: true }])).toMatchObject([{ fork: null }]);
  });

  test('state stays small however long the session; a fork below the window is taken for a duplicate', () => {
    const events = chainOf(WINDOW * 3);
    const states: { frozen: string | null } = { frozen: null };
    expect(through(events, states)).toHaveLength(events.length);
    expect(states.frozen?.length).toBeLessThan(WINDOW * 40);
    const [, old] = events;
    if (!old) throw new Error('no event');
    expect(through([{ ...old, model: 'other' }], states)).toEqual([]);
    const { chains }: Seen = JSON.parse(states.frozen ?? '');
    expect(chains['home-1']).toMatchObject({ forks: 0, duplicates: 1, seen: [[0, events.length - 1]] });
  });

  test('more gaps or chains than a session can have are set aside, the rest goes on', () => {
    const [event] = chainOf(1);
    if (!event) throw new Error('no event');
    const seen: Seen = { chains: {} };
    const apply = (fields: Partial<TraceEvent>) =>
      redact.apply(seen, eventRecord({ ...event, ...fields }, 'trace.raw'), NOTHING);
    for (let n = 0; n < MAX_INTERVALS; n++) apply({ seq: n * 2 });
    expect(() => apply({ seq: MAX_INTERVALS * 2 })).toThrow(/gaps/);
    expect(apply({ seq: MAX_INTERVALS * 2 - 1 }).out).toHaveLength(1); // makes the last stretch longer
    expect(apply({ seq: 1 }).out).toHaveLength(1);
    for (let n = 1; n < MAX_CHAINS; n++) apply({ chain_id: `home-${n + 1}` });
    expect(() => apply({ chain_id: 'one-too-many' })).toThrow(/chains/);
    expect(() => apply({ seq: -1 })).toThrow(/seq/);
  });

  test('a chain may have any name', () => {
    const events = chainOf(3).map((event) => ({ ...event, chain_id: '__proto__' }));
    const states = { frozen: null };
    expect(through([...events, ...events], states)).toHaveLength(3);
  });

  test("an event under another session's key is set aside", () => {
    const [event] = chainOf(1);
    if (!event) throw new Error('no event');
    expect(() => redact.apply(null, { ...eventRecord(event, 'trace.raw'), key: 'other' }, NOTHING)).toThrow(
      /another session/,
    );
  });
});

describe('what a scan found', () => {
  const scans: fc.Arbitrary<Scanned> = fc.oneof(
    fc.constant(NOTHING),
    fc.constant<Scanned>({ found: 'doubt', rules: ['b', 'a'] }),
    fc.constantFrom<Scanned>(
      { found: 'unscanned', why: 'timeout' },
      { found: 'unscanned', why: 'scanner_failed' },
    ),
    fc
      .array(
        fc.record({ field: fc.constantFrom(...CONTENT_FIELDS), rule: fc.string(), after: fc.string() }),
        { minLength: 1 },
      )
      .map((replacements): Scanned => ({ found: 'replaced', replacements })),
  );

  test('the hash of the header never changes, and verify can tell what was done', () => {
    fc.assert(
      fc.property(anyEvent, scans, (event, scanned) => {
        const { out } = redact.apply(null, eventRecord(event, 'trace.raw'), scanned);
        const [first, second] = out;
        if (first?.topic !== 'trace.events') throw new Error('no event');
        expect(headerHash(first.value)).toBe(headerHash(event));
        const held = CONTENT_FIELDS.some((field) => contentOf(event, field) !== null);
        if (scanned.found === 'nothing') expect(contentState(first.value)).toBe('intact');
        if (scanned.found === 'replaced') expect(['intact', 'redacted']).toContain(contentState(first.value));
        if (scanned.found === 'doubt' || scanned.found === 'unscanned') {
          expect(contentState(first.value)).toBe(held ? 'withheld' : 'intact');
          expect(first.value).toMatchObject({ withheld: 'quarantined', salt: null });
          expect(CONTENT_FIELDS.every((field) => contentOf(first.value, field) === null)).toBe(true);
          expect(second).toMatchObject({ topic: 'trace.quarantine', key: event.session_id });
        }
      }),
    );
  });

  test('R5 the scanner times out or fails: quarantined with the reason, not passed', () => {
    const { fallback } = redact.prepare;
    const event = beginSession().add({ type: 'message', text_redacted: 'what nobody could scan' });
    for (const [why, reason] of [
      ['timeout', 'timeout'],
      ['failed', 'scanner_failed'],
    ] as const) {
      const { out } = redact.apply(null, eventRecord(event, 'trace.raw'), fallback(why));
      const [passed, quarantined] = out;
      expect(JSON.stringify(passed)).not.toContain('nobody');
      expect(quarantined?.value).toMatchObject({ reason, event_id: event.event_id, rules: [] });
      if (quarantined?.topic !== 'trace.quarantine') throw new Error('not quarantined');
      expect(quarantined.value.content?.toString()).toContain('what nobody could scan');
    }
  });

  test('a hit in content without a salt is withheld: a redaction could not be told from an alteration', async () => {
    const secret = `ghp_${'Zz9'.repeat(12)}`;
    const event = { ...beginSession().add({ type: 'message', text_redacted: secret }), salt: null };
    const [scanned] = await prepare([{ value: event }]);
    if (!scanned) throw new Error('not scanned');
    const { out } = redact.apply(null, eventRecord(event, 'trace.raw'), scanned);
    expect(out.map(({ topic }) => topic)).toEqual(['trace.events', 'trace.quarantine']);
    expect(JSON.stringify(out[0])).not.toContain(secret);
  });
});
