/** Checks of a cluster that this home records into: reach, versions, topics, schemas, rights, clock. */
import type { Admin } from 'kafkajs';
import type { KafkaSettings } from '../../log/kafka/settings.ts';
import type { Log } from '../../log/log.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { REDUCER_GROUPS, withAdmin } from '../kafka/cluster.ts';
import { type LogPlace, withLog } from '../open-log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkLog } from './log.ts';

/** Beyond this, times of hosts cannot be compared. */
const APART_MS = 30_000;

export async function checkKafka(place: LogPlace, kafka: KafkaSettings, clock: Clock): Promise<Finding[]> {
  try {
    return [
      ...(await withAdmin(kafka, (admin) => checkCluster(admin, kafka))),
      ...(await checkLog(place)),
      ...(await withLog(place, async (log) => [await checkClock(log, clock)])),
    ];
  } catch (error) {
    return [
      problem(
        'kafka',
        messageOf(error),
        error instanceof FlipstreamError && error.kind === 'retryable'
          ? 'See that the brokers and the registry run and can be reached from here.'
          : 'Mend what the message names.',
      ),
    ];
  }
}

async function checkCluster(admin: Admin, kafka: KafkaSettings): Promise<Finding[]> {
  const { brokers, controller } = await admin.describeCluster();
  return [
    ok('kafka', `${brokers.length} brokers answer, controller ${controller}; they speak what we speak.`),
    ...(await checkSetup(admin, kafka)),
    ...(await checkWriters(admin)),
  ];
}

/** Topics and schemas: what `kafka setup` would change. */
async function checkSetup(admin: Admin, kafka: KafkaSettings): Promise<Finding[]> {
  const { setup } = await import('../../log/kafka/setup/setup.ts');
  const registry = { url: kafka.registry, auth: kafka.registry_auth };
  try {
    const { changes, partitions } = await setup({
      admin,
      registry,
      groups: REDUCER_GROUPS,
      shape: { replication: 1 },
      dryRun: true,
    });
    if (changes.length === 0)
      return [ok('topics', `Every topic has ${partitions} partitions and its settings; every schema fits.`)];
    const named = changes.slice(0, 3).map((change) => ('topic' in change ? change.topic : change.subject));
    return [
      problem(
        'topics',
        `${changes.length} things of topics and schemas are not as this release needs them (${named.join(', ')}…), or this user may not see them.`,
        'Run: flipstream kafka setup --dry-run',
      ),
    ];
  } catch (error) {
    if (error instanceof FlipstreamError && error.code === 'setup_refused')
      return [problem('topics', error.message, 'See docs/guides/kafka.md.')];
    throw error;
  }
}

async function checkWriters(admin: Admin): Promise<Finding[]> {
  const { writersOf } = await import('../../log/kafka/setup/apply-acls.ts');
  let writers: string[];
  try {
    writers = await writersOf(admin, 'oracle.verdicts');
  } catch {
    // Without an authorizer, or without the right to ask.
    return [
      warning(
        'rights',
        'Who may write verdicts cannot be asked here: no authorizer, or not this user’s to know.',
        'On a cluster that others reach, run an authorizer and: flipstream kafka acls --apply',
      ),
    ];
  }
  return writers.length <= 1
    ? [ok('rights', `By ACL, ${writers[0] ?? 'nobody'} may write verdicts.`)]
    : [
        problem(
          'rights',
          `${writers.length} principals may write verdicts: ${writers.join(', ')}.`,
          'Only the oracle may: take the right from the others with kafka-acls.sh --remove.',
        ),
      ];
}

/** Brokers stamp what they take: a stamp from the future tells of clocks that differ. */
async function checkClock(log: Log, clock: Clock): Promise<Finding> {
  for (let partition = 0; partition < (await log.partitions('sessions')); partition++) {
    const { end } = await log.read('sessions', partition, 0, 1);
    if (end === 0) continue;
    const { records } = await log.read('sessions', partition, Math.max(0, end - 5), 5);
    const ahead = (records.at(-1)?.timestamp ?? 0) - clock();
    if (ahead > APART_MS)
      return problem(
        'clock',
        `The brokers’ clock is ${Math.round(ahead / 1000)} s ahead of this machine’s.`,
        'Let both follow a time server.',
      );
  }
  return ok('clock', 'Nothing in the log is from this machine’s future.');
}
