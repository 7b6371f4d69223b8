import { expect, test } from 'vitest';
import { judgeWriters } from './kafka-rights.ts';

test.each([
  ['ok', ['User:flipstream-oracle'], ['User:flipstream-agent']],
  ['warning', [], ['User:flipstream-agent']],
  ['warning', ['User:grader'], ['User:flipstream-agent']],
  ['problem', ['User:host-7'], ['User:flipstream-agent', 'User:host-7']],
  ['problem', ['User:*'], []],
  ['problem', ['User:flipstream-oracle', 'User:host-7'], []],
])('%s: verdicts by %j, traces by %j', (state, verdicts, traces) => {
  expect(judgeWriters(verdicts, traces)).toMatchObject({ check: 'rights', state });
});
