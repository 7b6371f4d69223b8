import kafkajs, { type Admin } from 'kafkajs';
import { type AclRole, aclEntry, type Grant, grantsOf } from './acls.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** Grants what the principals of the roles need; what is granted already stays one grant. */
export async function applyAcls(
  admin: Admin,
  principals: readonly { role: AclRole; principal: string }[],
  groups: readonly string[],
): Promise<Grant[]> {
  const wanted = principals.flatMap(({ role, principal }) =>
    grantsOf(role, groups).map((grant) => ({ grant, entry: aclEntry(grant, principal) })),
  );
  if (wanted.length > 0) await admin.createAcls({ acl: wanted.map(({ entry }) => entry) });
  return wanted.map(({ grant }) => grant);
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
