/** Who may write verdicts, by ACL: what every label stands on. */
import type { Admin } from 'kafkajs';
import { kafkaCode } from '../../log/kafka/errors.ts';
import { principalOf } from '../kafka/principals.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const REMOVE = 'Only the oracle may: take the right from the others with kafka-acls.sh --remove.';

export async function checkVerdictWriters(admin: Admin): Promise<Finding> {
  const { writersOf } = await import('../../log/kafka/setup/apply-acls.ts');
  try {
    const [verdicts, traces] = [
      await writersOf(admin, 'oracle.verdicts'),
      await writersOf(admin, 'trace.raw'),
    ];
    return judgeWriters(verdicts, traces);
  } catch (error) {
    const code = kafkaCode(error);
    if (code === 'SECURITY_DISABLED')
      return warning(
        'rights',
        'No authorizer runs: whoever reaches the brokers may write verdicts.',
        'On a cluster that others reach, run one and: flipstream kafka acls --apply',
      );
    if (code !== 'CLUSTER_AUTHORIZATION_FAILED') throw error;
    return warning(
      'rights',
      'Who may write verdicts was not looked at: that takes DESCRIBE on the cluster.',
      'Ask as a user who may.',
    );
  }
}

/** @param traces who may write `trace.raw`, as hosts of agents do */
export function judgeWriters(verdicts: readonly string[], traces: readonly string[]): Finding {
  const [writer, ...more] = verdicts;
  if (writer === undefined)
    return warning(
      'rights',
      'By ACL nobody may write verdicts, the oracle neither.',
      'Run: flipstream kafka acls --role oracle --apply',
    );
  if (more.length > 0)
    return problem(
      'rights',
      `${verdicts.length} principals may write verdicts: ${verdicts.join(', ')}.`,
      REMOVE,
    );
  if (writer === 'User:*' || traces.includes(writer))
    return problem('rights', `${writer} may write verdicts, and traces too: that is no oracle.`, REMOVE);
  return writer === principalOf('oracle')
    ? ok('rights', `By ACL only ${writer} may write verdicts.`)
    : warning(
        'rights',
        `By ACL only ${writer} may write verdicts, whoever that is.`,
        'See that it is the oracle.',
      );
}
