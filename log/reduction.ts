import { LRUCache } from 'lru-cache';
import { FlipstreamError } from '../schemas/errors.ts';
import { TOPICS } from '../schemas/topics.ts';
import { breathing } from './breathing.ts';
import type { Incoming, Outgoing, Reducer } from './log.ts';
import type { Preparer } from './prepare.ts';
import type { Decoded, Encoded, RawRecord, Refused } from './values.ts';

/** Characters of frozen state that one partition keeps thawed on the heap; the rest is read again. */
const KEPT_CHARACTERS = 4 * 2 ** 20;

/** A state and its frozen text as committed. */
interface Kept<S> {
  state: S | null;
  text: string | null;
}

/** What one batch changes; the engine commits all of it, and the offset, in one transaction. */
interface Effects {
  outputs: Encoded[];
  /** Each changed key once, frozen; null forgets it. */
  states: Map<string, string | null>;
  refused: Refused[];
}

/** Frozen states by key, as last committed; absent keys are left out. */
export type LoadStates = (keys: string[]) => Promise<Map<string, string>>;

/** A reducer over one partition, its states kept between batches. */
export interface Reduction {
  process(decoded: Decoded, load: LoadStates): Promise<Effects>;
  /** The last effects are committed: their states may be kept. Until then they are nobody's. */
  committed(): void;
  /** Forgets every kept state; after any failed transaction. */
  reset(): void;
}

/** @param encoding what writes a reducer's outputs; `check` throws for a value that fits no schema. */
export function createReduction<S, P>(
  reducer: Reducer<S, P>,
  preparer: Preparer<P> | null,
  encoding: { check: (out: Outgoing) => Encoded | null; seal: (out: Outgoing) => Promise<Encoded> },
): Reduction {
  const { freeze = JSON.stringify, thaw = (text) => JSON.parse(text), stateKey = (r) => r.key } = reducer;
  const kept = new LRUCache<string, Kept<S>>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: ({ text }, key) => (text?.length ?? 0) + key.length + 64,
  });
  let uncommitted = new Map<string, Kept<S>>();

  /** Without `prepare`, P is undefined and so is every prepared value. */
  const isPrepared = (value: P | undefined): value is P => value !== undefined || preparer === null;

  function applyTo(state: S | null, record: Incoming, prepared: P | undefined) {
    if (!isPrepared(prepared)) {
      throw new FlipstreamError('prepare_unusable', 'fatal', `${reducer.group}: prepare gave an undefined`);
    }
    const step = reducer.apply(state, record, prepared);
    return { state: step.state, out: step.out.map((out) => encoding.check(out) ?? out) };
  }

  async function together(records: Incoming[], prepared: P[], load: LoadStates): Promise<Effects> {
    const keys = records.map(stateKey);
    const before = await restore(new Set(keys), load);
    const states = new Map<string, S | null>();
    for (const [key, { state }] of before) states.set(key, state);
    const outputs: (Encoded | Outgoing)[] = [];
    const breath = breathing();
    for (const [index, record] of records.entries()) {
      await breath();
      const key = keys[index] ?? record.key;
      const step = applyTo(states.get(key) ?? null, record, prepared[index]);
      states.set(key, step.state);
      outputs.push(...step.out);
    }
    const frozen = new Map<string, string | null>();
    for (const [key, state] of states) {
      // Compared as text: a reducer may hand back the very object it was given, changed.
      const text = state === null ? null : freeze(state);
      if (text !== before.get(key)?.text) frozen.set(key, text);
      uncommitted.set(key, { state, text });
    }
    return { outputs: await finish(outputs), states: frozen, refused: [] };
  }

  async function restore(keys: Set<string>, load: LoadStates): Promise<Map<string, Kept<S>>> {
    const found = new Map<string, Kept<S>>();
    const missing: string[] = [];
    for (const key of keys) {
      const hit = kept.get(key);
      if (hit) found.set(key, hit);
      else missing.push(key);
    }
    const loaded = missing.length > 0 ? await load(missing) : new Map<string, string>();
    for (const key of missing) {
      const text = loaded.get(key) ?? null;
      found.set(key, { text, state: text === null ? null : thaw(text) });
    }
    return found;
  }

  /** One record after another, each from a state thawed anew: whichever throws now is itself the cause. */
  async function oneByOne(
    records: Incoming[],
    raw: RawRecord[],
    prepared: P[],
    load: LoadStates,
  ): Promise<Effects> {
    const frozen = new Map<string, string | null>();
    const outputs: (Encoded | Outgoing)[] = [];
    const refused: Refused[] = [];
    const setAside = (index: number, error: unknown) => {
      if (!isPoison(error)) throw error;
      const record = raw[index];
      if (record) refused.push({ record, reason: 'apply_failed', message: told(reducer.group, error) });
    };
    const breath = breathing();
    for (const [index, record] of records.entries()) {
      await breath();
      let key: string;
      try {
        key = stateKey(record);
      } catch (error) {
        setAside(index, error);
        continue;
      }
      // Outside the judgement on the record: a state that cannot be read is the store's fault.
      const text = (frozen.has(key) ? frozen.get(key) : (await load([key])).get(key)) ?? null;
      try {
        const step = applyTo(text === null ? null : thaw(text), record, prepared[index]);
        // Frozen first: a state that cannot be frozen takes its record's outputs with it.
        const after = step.state === null ? null : freeze(step.state);
        if (after !== text) frozen.set(key, after);
        outputs.push(...step.out);
      } catch (error) {
        setAside(index, error);
      }
    }
    return { outputs: await finish(outputs), states: frozen, refused };
  }

  function finish(all: (Encoded | Outgoing)[]): Promise<Encoded[]> | Encoded[] {
    const outputs = newest(all);
    const sealing = outputs.some((out) => !Buffer.isBuffer(out.value));
    if (!sealing) return outputs.filter(isEncoded);
    return Promise.all(outputs.map((out) => (isEncoded(out) ? out : encoding.seal(out))));
  }

  return {
    async process({ batch, raw, refused }, load) {
      uncommitted = new Map();
      const prepared = preparer ? await preparer.prepare(batch.records) : [];
      let effects: Effects;
      try {
        effects = await together(batch.records, prepared, load);
      } catch (error) {
        if (!isPoison(error)) throw error;
        // A failed `apply` may have changed a kept state in place.
        kept.clear();
        uncommitted = new Map();
        effects = await oneByOne(batch.records, raw, prepared, load);
      }
      return { ...effects, refused: [...refused, ...effects.refused] };
    },
    committed() {
      for (const [key, state] of uncommitted) kept.set(key, state);
      uncommitted = new Map();
    },
    reset() {
      kept.clear();
      uncommitted = new Map();
    },
  };
}

/** Of a compacted topic only a key's last value in the transaction is written: no reader could ever want the others. */
function newest(outputs: (Encoded | Outgoing)[]): (Encoded | Outgoing)[] {
  const last = new Map<string, Encoded | Outgoing>();
  for (const out of outputs) if (isCompacted(out)) last.set(`${out.topic} ${out.key}`, out);
  return outputs.filter((out) => !isCompacted(out) || last.get(`${out.topic} ${out.key}`) === out);
}

function isCompacted({ topic }: Encoded | Outgoing): boolean {
  return TOPICS[topic].cleanup === 'compact';
}

function isEncoded(out: Encoded | Outgoing): out is Encoded {
  return Buffer.isBuffer(out.value);
}

/** A named error of another kind is no verdict on the record: the engine retries or ends. */
function isPoison(error: unknown): boolean {
  return !(error instanceof FlipstreamError) || error.kind === 'poison';
}

/** Without the text of a foreign error, which may quote content. */
function told(group: string, error: unknown): string {
  if (error instanceof FlipstreamError) return `${group}: ${error.message}`;
  return `${group} threw ${error instanceof Error ? error.name : 'a value'} on this record, again when it was alone`;
}
