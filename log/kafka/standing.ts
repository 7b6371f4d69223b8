import { FlipstreamError } from '../../schemas/errors.ts';
import type { TopicName } from '../../schemas/topics.ts';
import type { Core } from './core.ts';
import { unavailable } from './errors.ts';
import type { Placed } from './lease.ts';
import { boundsOf, type Committed, committedOf } from './offsets.ts';
import type { States } from './states.ts';
import type { Wire } from './wire.ts';

/**
 * Under this key the changelog has the offset of an input, as of its states. Brokers forget what a group that
 * nobody runs has committed (after a week, by default); the states would then be applied to once more.
 */
function offsetKey(topic: string): string {
  return `\u0000offset ${topic}`;
}

/**
 * And under this one the ids of that input and of the changelog itself when it was written. Beside the offset and not
 * in it, since earlier builds read that as a number.
 */
function idsKey(topic: string): string {
  return `\u0000topics ${topic}`;
}

/** Where a reducer goes on in one partition of an input. */
export interface Standing extends Committed {
  topic: TopicName;
  /** Of the input and of the changelog, as they are now. */
  ids: string;
}

/** What the changelog keeps of a standing, beside the states. */
export function marksOf({ topic, offset, ids }: Standing): [string, string][] {
  return [
    [offsetKey(topic), String(offset)],
    [idsKey(topic), ids],
  ];
}

/** Records of the changelog. */
export function changelogged(
  changelog: string,
  partition: number,
  states: Iterable<readonly [string, string | null]>,
): Placed[] {
  return Array.from(states, ([key, text]) => ({
    topic: changelog,
    partition,
    key,
    value: text === null ? null : Buffer.from(text),
  }));
}

interface Asked {
  core: Pick<Core, 'catalog'>;
  wire: Wire;
  reducer: { group: string; inputs: readonly TopicName[] };
  changelog: string;
}

/** Where a reducer goes on, and what of that is written nowhere yet. */
export interface Standings {
  all: Standing[];
  /** Where the group has committed nothing: it begins at the first record that is kept. */
  fresh: Standing[];
  /** Of which the changelog does not have the marks. */
  unmarked: Standing[];
}

/**
 * Reads where a group goes on in one partition. Only on a lease just taken is that all there is.
 * @throws FlipstreamError `topic_replaced`, `states_lost` (fatal) when what it went by is not there any more;
 * `kafka_unavailable`
 */
export async function standingsOf(asked: Asked, partition: number, states: States): Promise<Standings> {
  const { core, wire, reducer, changelog } = asked;
  const { group, inputs } = reducer;
  const places = inputs.map((topic) => ({ topic, partition }));
  const committed = await committedOf(wire, group, places);
  await states.catchUp();
  const stored = await states.load(inputs.flatMap((topic) => [offsetKey(topic), idsKey(topic)]));
  const changelogId = await idOf(core, wire, changelog);
  const standings: Standings = { all: [], fresh: [], unmarked: [] };
  for (const topic of inputs) {
    const found = committed.find((one) => one.topic === topic);
    const next = Math.max(found?.offset ?? -1, Number(stored.get(offsetKey(topic)) ?? -1));
    const inputId = await idOf(core, wire, topic);
    // What an earlier build has written has no ids: those of now are taken on.
    const [inputWas = inputId, changelogWas = changelogId] = stored.get(idsKey(topic))?.split(' ') ?? [];
    const at = { group, topic, partition, next: Math.max(next, 0) };
    if (inputWas !== inputId) throw topicReplaced(at);
    if (changelogWas !== changelogId || (next > 0 && states.empty())) throw statesLost(at, changelog);
    const offset = next < 0 ? (await boundsOf(wire, topic, partition)).earliest : next;
    const letters = found?.letters ?? 0;
    const standing = { topic, partition, offset, letters, ids: `${inputId} ${changelogId}` };
    standings.all.push(standing);
    if (found && found.offset < 0) standings.fresh.push(standing);
    if (!stored.has(idsKey(topic))) standings.unmarked.push(standing);
  }
  return standings;
}

async function idOf({ catalog }: Pick<Core, 'catalog'>, wire: Wire, topic: string): Promise<string> {
  const id = await catalog.idNow(topic);
  if (id === null) throw unavailable(`${topic} is not there`, wire.brokers);
  return id;
}

interface Lost {
  group: string;
  topic: string;
  partition: number;
  next: number;
}

function topicReplaced({ group, topic, partition, next }: Lost): FlipstreamError {
  return new FlipstreamError(
    'topic_replaced',
    'fatal',
    `${group}: the offsets below ${next} of ${topic}/${partition} were worked through, and the topic was deleted and made anew since: what the old one held from offset ${next} on is not in what was derived. Rebuild in a fresh home with flipstream replay`,
  );
}

function statesLost({ group, topic, partition, next }: Lost, changelog: string): FlipstreamError {
  return new FlipstreamError(
    'states_lost',
    'fatal',
    `${group}: the offsets below ${next} of ${topic}/${partition} were worked through, and ${changelog}, which keeps what came of them, is empty there or was made anew: what follows would be derived without them. Rebuild in a fresh home with flipstream replay`,
  );
}
