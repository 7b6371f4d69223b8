/** Checks of a cluster that this home records into: reach, versions, topics, schemas, rights, lag, clock. */
import type { Admin } from 'kafkajs';
import { named } from '../../log/kafka/errors.ts';
import type { KafkaSettings } from '../../log/kafka/settings.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { counted } from '../counted.ts';
import { REDUCER_GROUPS, withAdmin } from '../kafka/cluster.ts';
import { type LogPlace, withLog } from '../open-log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkClock } from './kafka-clock.ts';
import { checkVerdictWriters } from './kafka-rights.ts';
import { checkLog } from './log.ts';
import { checkReview } from './review.ts';

/** Every check that this user may make; of the others, which right is missing. */
export async function checkKafka(place: LogPlace, kafka: KafkaSettings, clock: Clock): Promise<Finding[]> {
  const looked = (check: string, look: () => Promise<Finding[]>) =>
    look().catch((error) => [failed(check, named(error, kafka.brokers))]);
  return looked('kafka', () =>
    withAdmin(kafka, async (admin) => [
      await checkBrokers(admin, kafka),
      ...(await looked('topics', () => checkTopics(admin))),
      ...(await looked('schemas', () => checkSchemas(kafka))),
      ...(await looked('rights', async () => [await checkVerdictWriters(admin)])),
      ...(await looked('lag', () => checkLog(place))),
      ...(await looked('review', () => checkReview(place, clock))),
      ...(await looked('clock', () => withLog(place, async (log) => [await checkClock(log, clock)]))),
    ]),
  );
}

function failed(check: string, error: unknown): Finding {
  const message = messageOf(error);
  if (!(error instanceof FlipstreamError)) return problem(check, message, 'Mend what the message names.');
  if (error.code === 'kafka_not_allowed')
    return warning(check, `Not looked at: ${message}`, 'Ask as a user who may.');
  return problem(
    check,
    message,
    error.kind === 'retryable'
      ? 'See that the brokers and the registry run and can be reached from here.'
      : 'Mend what the message names.',
  );
}

async function checkBrokers(admin: Admin, kafka: KafkaSettings): Promise<Finding> {
  const { notSpokenBy } = await import('../../log/kafka/versions.ts');
  const { brokers, controller } = await admin.describeCluster();
  const ids = brokers.map(({ nodeId }) => nodeId);
  const lacking = [...(await notSpokenBy(kafka, ids))];
  if (lacking.length === 0)
    return ok(
      'kafka',
      `${counted(brokers.length, 'broker')} in all, controller ${controller}; each answers, and takes the versions of all requests that are sent.`,
    );
  return problem(
    'kafka',
    lacking
      .map(([id, names]) => `broker ${id} has no version of ${names.join(', ')} that is spoken here`)
      .join('; '),
    'Brokers from 2.3 to 4.x are spoken to.',
  );
}

/** What `kafka setup` would change, as far as this user may see it. */
async function checkTopics(admin: Admin): Promise<Finding[]> {
  const { lookAtTopics } = await import('../../log/kafka/setup/look.ts');
  const { seen, hidden, settingsSeen, partitions, plan } = await lookAtTopics(admin, REDUCER_GROUPS);
  const wrong = [
    ...plan.refusals,
    ...plan.changes.flatMap((change) =>
      change.kind === 'create-topic'
        ? [`${change.topic} is missing`]
        : change.kind === 'alter-topic'
          ? [`${change.topic} has ${change.setting} ${change.from || 'unset'} and not ${change.to}`]
          : [],
    ),
  ];
  if (wrong.length > 0)
    return [
      problem(
        'topics',
        `Not as this release needs it: ${wrong.slice(0, 3).join('; ')}${wrong.length > 3 ? `, and ${wrong.length - 3} more` : ''}.`,
        'Run: flipstream kafka setup --dry-run',
      ),
    ];
  const unseen = [
    ...(hidden.length > 0 ? [`${hidden.join(', ')} (that takes DESCRIBE on them)`] : []),
    ...(settingsSeen ? [] : ['how topics are set (that takes DESCRIBE_CONFIGS on them)']),
  ];
  if (unseen.length === 0)
    return [
      ok(
        'topics',
        `All ${seen.length} are there, with ${counted(partitions, 'partition')} each and their settings.`,
      ),
    ];
  const there =
    seen.length === 0
      ? 'No topic was seen'
      : `${seen.join(', ')}: there, with ${counted(partitions, 'partition')} each`;
  return [
    warning(
      'topics',
      `${there}. Not looked at: ${unseen.join('; ')}.`,
      'Ask as a user who may see all of it.',
    ),
  ];
}

async function checkSchemas(kafka: KafkaSettings): Promise<Finding[]> {
  const { planSchemas } = await import('../../log/kafka/setup/schemas.ts');
  const { changes, refusals } = await planSchemas({ url: kafka.registry, auth: kafka.registry_auth });
  if (refusals.length > 0) return [problem('schemas', refusals.join('; '), 'See docs/guides/kafka.md.')];
  const subjects = new Set(changes.flatMap((change) => ('subject' in change ? [change.subject] : [])));
  return subjects.size === 0
    ? [ok('schemas', 'The registry has every schema of this release, each with its compatibility level.')]
    : [
        problem(
          'schemas',
          `Not in the registry as this release needs it: ${[...subjects].join(', ')}.`,
          'Run: flipstream kafka setup --dry-run',
        ),
      ];
}
