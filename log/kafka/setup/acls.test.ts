import { expect, test } from 'vitest';
import { createJoin } from '../../../streams/join/join.ts';
import { createBucketMetrics } from '../../../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../../../streams/metrics/session.ts';
import { createRedact } from '../../../streams/redact/redact.ts';
import { ACL_ROLES, aclCommand, grantsOf } from './acls.ts';

const reducers = [
  createRedact(),
  createJoin({ keyRing: { v: 1, keys: [] } }),
  createSessionMetrics(),
  createBucketMetrics(),
];
const groups = reducers.map(({ group }) => group);
const may = (operation: string, topic: string) =>
  ACL_ROLES.filter((role) =>
    grantsOf(role, groups).some(
      (grant) => grant.resource === 'TOPIC' && grant.operation === operation && grant.name === topic,
    ),
  );

test('an agent host may write trace.raw and nothing else', () => {
  expect(grantsOf('agent', groups)).toEqual([
    { role: 'agent', resource: 'TOPIC', name: 'trace.raw', prefixed: false, operation: 'WRITE' },
  ]);
});

test('only the oracle may write verdicts, only redact what was scanned', () => {
  expect(may('WRITE', 'oracle.verdicts')).toEqual(['oracle']);
  expect(may('WRITE', 'trace.events')).toEqual(['streams']);
});

test('quarantine and dead letters are readable by few', () => {
  expect(may('READ', 'trace.quarantine')).toEqual(['sink', 'reviewer']);
  expect(may('READ', 'deadletter')).toEqual(['sink', 'reviewer']);
});

test('streams may read every input of its reducers, write what they put out, and both with its changelogs', () => {
  for (const { group, inputs, outputs } of reducers) {
    for (const topic of [...inputs, `${group}.state`]) expect(may('READ', topic)).toContain('streams');
    for (const topic of [...outputs, `${group}.state`, 'deadletter'])
      expect(may('WRITE', topic)).toContain('streams');
  }
});

test('a grant as the command of Kafka’s own tool', () => {
  const [grant] = grantsOf('reviewer', groups).slice(-1);
  expect(grant && aclCommand(grant, 'User:ann')).toBe(
    'kafka-acls.sh --bootstrap-server "$BROKERS" --add --allow-principal User:ann --operation WRITE --transactional-id deadletter-put-back --resource-pattern-type prefixed',
  );
});
