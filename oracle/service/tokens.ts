import { randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { FlipstreamError } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { isoTime } from '../../schemas/time.ts';
import type { Oracle } from '../oracle.ts';

/** An agent host, as far as the oracle knows it. */
export interface Principal {
  name: string;
  /** Task ids it may ask for; `*` stands for all. */
  tasks: string[];
}

const Row = z.object({ hash: z.string(), principal: z.string(), tasks: z.string() });
const Tasks = z.array(z.string());
const Name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/);

/**
 * Makes a token for an agent host. Only its hash is kept: 256 random bits need no slow hash.
 * @param principal the host's name: budgets are kept by it and verdicts name it.
 * @returns the token, which cannot be read again.
 * @throws FlipstreamError `principal_invalid` (usage).
 */
export function createToken(oracle: Oracle, principal: string, tasks: readonly string[] = ['*']): string {
  if (!Name.safeParse(principal).success)
    throw new FlipstreamError(
      'principal_invalid',
      'usage',
      `"${principal}" is no name for an agent host: letters, digits, . _ @ - only`,
    );
  const token = `fso_${randomBytes(32).toString('base64url')}`;
  oracle.db.sql
    .prepare('insert into tokens (hash, principal, tasks, created_at) values (?, ?, ?, ?)')
    .run(sha256(token), principal, JSON.stringify(tasks), isoTime(oracle.clock()));
  return token;
}

/** Takes every token of an agent host back. @returns how many there were. */
export function revokeTokens(oracle: Oracle, principal: string): number {
  return Number(oracle.db.sql.prepare('delete from tokens where principal = ?').run(principal).changes);
}

/** Who holds the token of an Authorization header, or null. Compares with every token, in constant time each. */
export function principalOf(oracle: Oracle, authorization: string | undefined): Principal | null {
  const token = /^Bearer ([A-Za-z0-9_-]{1,200})$/.exec(authorization ?? '')?.[1] ?? '';
  const given = Buffer.from(sha256(token), 'hex');
  let found: Principal | null = null;
  for (const raw of oracle.db.sql.prepare('select hash, principal, tasks from tokens').all()) {
    const row = Row.parse(raw);
    if (timingSafeEqual(Buffer.from(row.hash, 'hex'), given))
      found = { name: row.principal, tasks: Tasks.parse(parseJson(row.tasks)) };
  }
  return found;
}

export const mayAsk = (principal: Principal, taskId: string): boolean =>
  principal.tasks.some((task) => task === '*' || task === taskId);
