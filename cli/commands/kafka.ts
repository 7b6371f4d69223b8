import { z } from 'zod';
import { ACL_ROLES, aclCommand, grantsOf } from '../../log/kafka/setup/acls.ts';
import type { Change } from '../../log/kafka/setup/topics.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { ENGINE_FLAGS } from '../engine.ts';
import { Count } from '../flags.ts';
import { REDUCER_GROUPS, requireKafka, withAdmin } from '../kafka/cluster.ts';
import { principalOf } from '../kafka/principals.ts';
import { withProgress } from '../progress.ts';
import { addKafkaMove } from './kafka-move.ts';

const SetupFlags = z.looseObject({
  partitions: Count.optional(),
  replication: Count.optional(),
  dryRun: z.boolean().default(false),
});
const AclFlags = z.looseObject({
  role: z.enum(ACL_ROLES, `must be one of ${ACL_ROLES.join(', ')}`).optional(),
  principal: z
    .string()
    .regex(/^User:\S+$/, 'must be as User:name')
    .optional(),
  apply: z.boolean().default(false),
});

/** `flipstream kafka setup | acls | move`: the deploy steps on a cluster. */
export function addKafka(cli: Cli): void {
  const parent = cli.program.command('kafka').description('prepare a Kafka cluster');
  const make = addCommand(
    parent,
    'setup',
    'make the topics and register the schemas; run again after an update, it changes only what is missing',
  )
    .option('--partitions <n>', 'partitions of every topic, for ever (default: 6, or as the topics have)')
    .option('--replication <n>', 'replicas of every partition (default: 3, or as the topics have)')
    .option('--dry-run', 'only say what it would change');
  for (const [flag, description] of ENGINE_FLAGS) make.option(flag, description);
  handle(cli, make, SetupFlags, async ({ config, out, io }, { partitions, replication, dryRun }) => {
    const kafka = requireKafka(config);
    const registry = { url: kafka.registry, auth: kafka.registry_auth };
    const { setup } = await import('../../log/kafka/setup/setup.ts');
    const done = await withProgress(io.stderr, 'Looking at the cluster', () =>
      withAdmin(kafka, (admin) =>
        setup({ admin, registry, groups: REDUCER_GROUPS, shape: { partitions, replication }, dryRun }),
      ),
    );
    out.result({ ...done, dry_run: dryRun }, () =>
      [
        ...done.changes.map(sentence),
        ...done.notes.map((note) => `Note: ${note}.`),
        done.changes.length === 0
          ? `Nothing to change: every topic has ${counted(done.partitions, 'partition')}, every schema is registered.`
          : dryRun
            ? `${counted(done.changes.length, 'change')}; nothing was written.`
            : `${counted(done.changes.length, 'change')} made.`,
      ].join('\n'),
    );
  });

  const acls = addCommand(
    parent,
    'acls',
    'print what each role must be allowed, as commands of Kafka\u2019s own tool; or allow it',
  )
    .option('--role <role>', `only this one: ${ACL_ROLES.join(', ')}`)
    .option('--principal <principal>', 'who has the role (default: User:flipstream-<role>)')
    .option('--apply', 'allow it on the cluster instead');
  for (const [flag, description] of ENGINE_FLAGS) acls.option(flag, description);
  handle(cli, acls, AclFlags, async ({ config, out, io }, flags) => {
    const principals = (flags.role ? [flags.role] : ACL_ROLES).map((role) => ({
      role,
      principal: flags.principal ?? principalOf(role),
    }));
    if (flags.apply) {
      const { applyAcls } = await import('../../log/kafka/setup/apply-acls.ts');
      await withProgress(io.stderr, 'Allowing', () =>
        withAdmin(requireKafka(config), (admin) => applyAcls(admin, principals, REDUCER_GROUPS)),
      );
    }
    const grants = principals.flatMap(({ role, principal }) =>
      grantsOf(role, REDUCER_GROUPS).map((grant) => ({ ...grant, principal })),
    );
    out.result({ applied: flags.apply, grants }, () =>
      flags.apply
        ? `Allowed: ${principals.map(({ role, principal }) => `${principal} as ${role}`).join(', ')}.`
        : grants.map((grant) => aclCommand(grant, grant.principal)).join('\n'),
    );
  });
  addKafkaMove(cli, parent);
}

function sentence(change: Change): string {
  switch (change.kind) {
    case 'create-topic': {
      const settings = Object.entries(change.settings).map(([name, value]) => `${name}=${value}`);
      return `create  ${change.topic}: ${counted(change.partitions, 'partition')}, ${counted(change.replication, 'replica')}, ${settings.join(', ')}`;
    }
    case 'alter-topic':
      return `alter   ${change.topic}: ${change.setting} from ${change.from || 'unset'} to ${change.to}`;
    case 'set-compatibility':
      return `level   ${change.subject}: from ${change.from ?? 'unset'} to ${change.to}`;
    case 'register-schema':
      return `schema  ${change.subject}: this release's, after ${change.versions} earlier`;
  }
}
