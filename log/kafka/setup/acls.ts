/** Who may do what on the cluster, by role. What is not here is refused by the broker. */
import { TOPIC_NAMES, type TopicName } from '../../../schemas/topics.ts';
import { stateTopic } from './wanted.ts';

export const ACL_ROLES = ['agent', 'oracle', 'streams', 'sink', 'reviewer'] as const;
export type AclRole = (typeof ACL_ROLES)[number];

type Operation = 'READ' | 'WRITE' | 'DESCRIBE';

/** One permission: `operation` on everything of this name, or beginning with it. */
export interface Grant {
  role: AclRole;
  resource: 'TOPIC' | 'GROUP' | 'TRANSACTIONAL_ID';
  name: string;
  prefixed: boolean;
  operation: Operation;
}

/** Reading and writing let a principal see the topic too, and being a member its group. */
interface Rights {
  read?: readonly string[];
  write?: readonly string[];
  /** Sees that they are there and how far they go. */
  describe?: readonly string[];
  /** Consumer groups that it is a member of. */
  groups?: readonly string[];
  /** Groups whose progress it sees. */
  watches?: readonly string[];
  /** Transactional ids that begin so. */
  transactions?: readonly string[];
}

const DERIVED = ['sessions', 'flips', 'flip.metrics.deltas', 'flip.metrics'] as const satisfies TopicName[];
const LANDED = TOPIC_NAMES.filter((topic) => topic !== 'trace.raw' && topic !== 'flip.metrics.deltas');

function rightsOf(role: AclRole, groups: readonly string[]): Rights {
  const states = groups.map(stateTopic);
  switch (role) {
    case 'agent':
      return { write: ['trace.raw'] };
    case 'oracle':
      return { write: ['oracle.verdicts', 'tasks'] };
    case 'streams':
      return {
        read: ['trace.raw', 'trace.events', 'oracle.verdicts', ...DERIVED, ...states],
        write: ['trace.events', 'trace.quarantine', 'deadletter', ...DERIVED, ...states],
        groups,
        transactions: groups.map((group) => `${group}-`),
      };
    case 'sink':
      // It lands the metadata of quarantine and dead letters; their content is sealed to the reviewer.
      return {
        read: LANDED,
        write: ['deadletter'],
        describe: ['trace.raw', 'flip.metrics.deltas', ...states],
        groups: ['sink'],
        watches: groups,
      };
    case 'reviewer':
      // What is put back goes through the second scan again; a verdict is put back by whoever may write verdicts.
      return {
        read: ['trace.quarantine', 'deadletter', 'trace.raw'],
        write: ['trace.raw', 'deadletter'],
        transactions: ['deadletter-put-back'],
      };
  }
}

/** @param groups of the reducers. */
export function grantsOf(role: AclRole, groups: readonly string[]): Grant[] {
  const rights = rightsOf(role, groups);
  const grants = (
    names: readonly string[] | undefined,
    resource: Grant['resource'],
    operation: Operation,
  ): Grant[] =>
    (names ?? []).map((name) => ({
      role,
      resource,
      name,
      prefixed: resource === 'TRANSACTIONAL_ID',
      operation,
    }));
  return [
    ...grants(rights.read, 'TOPIC', 'READ'),
    ...grants(rights.write, 'TOPIC', 'WRITE'),
    ...grants(rights.describe, 'TOPIC', 'DESCRIBE'),
    ...grants(rights.groups, 'GROUP', 'READ'),
    ...grants(rights.watches, 'GROUP', 'DESCRIBE'),
    ...grants(rights.transactions, 'TRANSACTIONAL_ID', 'WRITE'),
  ];
}

/** As Kafka's own tool wants it, for whoever may not let this command write. */
export function aclCommand({ resource, name, prefixed, operation }: Grant, principal: string): string {
  const flag = { TOPIC: '--topic', GROUP: '--group', TRANSACTIONAL_ID: '--transactional-id' }[resource];
  const pattern = prefixed ? ' --resource-pattern-type prefixed' : '';
  return `kafka-acls.sh --bootstrap-server "$BROKERS" --add --allow-principal ${principal} --operation ${operation} ${flag} ${name}${pattern}`;
}
