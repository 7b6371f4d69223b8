import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, sandbox } from '../testing.ts';

let box: Sandbox;
beforeAll(() => {
  box = sandbox();
});
afterAll(() => box.remove());

test('acls prints what a role needs, and nothing is asked of a cluster', async () => {
  const ran = await box.flipstream(['kafka', 'acls', '--role', 'agent', '--principal', 'User:host-7']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toBe(
    'kafka-acls.sh --bootstrap-server "$BROKERS" --add --allow-principal User:host-7 --operation WRITE --topic trace.raw\n',
  );
  expect(await box.flipstream(['kafka', 'acls', '--principal', 'host-7'])).toMatchObject({ code: 2 });
});

test('setup says what is missing, and where nobody answers', async () => {
  const unsaid = await box.flipstream(['kafka', 'setup']);
  expect(unsaid).toMatchObject({ code: 2 });
  expect(unsaid.err).toContain('--brokers');
  const embedded = await box.flipstream(['kafka', 'setup', '--engine', 'embedded']);
  expect(embedded.err).toContain('leave out --engine embedded');
  const nobody = ['--brokers', '127.0.0.1:1', '--registry', 'http://127.0.0.1:1'];
  const ran = await box.flipstream(['kafka', 'setup', ...nobody, '--json']);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'kafka_unavailable' } });
});
