import { expect, test } from 'vitest';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { nextAttempt } from './resume.ts';

test.each([
  ['claude-code', ['claude', '-p', 'fix'], ['claude', '-p', BLOCK_REASON, '--resume', 'id']],
  ['codex', ['codex', 'exec', '--json', 'fix'], ['codex', 'exec', 'resume', 'id', '--json', BLOCK_REASON]],
  ['opencode', ['opencode', 'run', 'fix'], ['opencode', 'run', BLOCK_REASON, '--session', 'id']],
  ['gemini', ['gemini', '-p', 'fix'], ['gemini', '-p', BLOCK_REASON, '--resume', 'id']],
  ['cursor', ['cursor-agent', '-p', 'fix'], ['cursor-agent', '-p', BLOCK_REASON, '--resume', 'id']],
])('%s goes on in the same session, told the constant reason and nothing else', (harness, argv, next) => {
  expect(nextAttempt(argv, harness, 'id')).toEqual({ argv: next, resumes: true });
});

test('what cannot be resumed is asked again, with the constant reason after its prompt', () => {
  const next = nextAttempt(['cline', '-y', 'fix it'], 'cline', 'id');
  expect(next).toEqual({ argv: ['cline', '-y', `fix it\n\n${BLOCK_REASON}`], resumes: false });
});
