import type { AclRole } from '../../log/kafka/setup/acls.ts';

/** The name that a role has unless another is given; the guide and the compose file use it. */
export function principalOf(role: AclRole): string {
  return `User:flipstream-${role}`;
}
