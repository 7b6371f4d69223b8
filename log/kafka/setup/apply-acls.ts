import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import { type AclRole, type Grant, grantsOf } from './acls.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** Grants what the principals of the roles need; what is granted already stays one grant. */
export async function applyAcls(
  admin: Admin,
  /** Such as `User:flipstream-agent`. */
  principals: readonly { role: AclRole; principal: string }[],
  groups: readonly string[],
): Promise<void> {
  const acl = principals.flatMap(({ role, principal }) =>
    grantsOf(role, groups).map((grant) => entryOf(grant, principal)),
  );
  await admin.createAcls({ acl });
}

const OPERATIONS = {
  READ: AclOperationTypes.READ,
  WRITE: AclOperationTypes.WRITE,
  DESCRIBE: AclOperationTypes.DESCRIBE,
};

function entryOf({ resource, name, prefixed, operation }: Grant, principal: string): AclEntry {
  return {
    principal,
    host: '*',
    operation: OPERATIONS[operation],
    permissionType: AclPermissionTypes.ALLOW,
    resourceType: AclResourceTypes[resource],
    resourceName: name,
    resourcePatternType: prefixed ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
  };
}

/** Principals that may write to a topic by name, as far as ACLs say so; superusers are in none. */
export async function writersOf(admin: Admin, topic: string): Promise<string[]> {
  const { resources } = await admin.describeAcls({
    resourceType: AclResourceTypes.TOPIC,
    resourceName: topic,
    resourcePatternType: ResourcePatternTypes.MATCH,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ALLOW,
  });
  const writing: number[] = [AclOperationTypes.WRITE, AclOperationTypes.ALL];
  const acls = resources.flatMap((resource) => resource.acls);
  return [
    ...new Set(acls.filter(({ operation }) => writing.includes(operation)).map((acl) => acl.principal)),
  ];
}
