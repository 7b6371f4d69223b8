/**
 * The command of a run's next attempt. Pure. The prompt is the last argument, as every harness takes it.
 */
import { BLOCK_REASON } from '../../schemas/block-reason.ts';

/** How a harness is told to go on with a session: its arguments before the prompt, and the session's id. */
const RESUME: Readonly<Record<string, (before: readonly string[], id: string, prompt: string) => string[]>> =
  {
    'claude-code': (before, id, prompt) => [...before, prompt, '--resume', id],
    codex: (before, id, prompt) => [...insertAfter(before, 'exec', ['resume', id]), prompt],
    opencode: (before, id, prompt) => [...before, prompt, '--session', id],
    gemini: (before, id, prompt) => [...before, prompt, '--resume', id],
    cursor: (before, id, prompt) => [...before, prompt, '--resume', id],
    copilot: (before, id, prompt) => [...before, prompt, `--resume=${id}`],
    openhands: (before, id, prompt) => [...before, prompt, '--resume', id],
  };

export interface Attempt {
  argv: string[];
  /** The harness goes on with the session it had; else it begins anew, and is recorded in the session of the run's first attempt. */
  resumes: boolean;
}

/**
 * @param argv the command as the person gave it
 * @param harness as the hook named it
 */
export function nextAttempt(argv: readonly string[], harness: string, sessionId: string): Attempt {
  const before = argv.slice(0, -1);
  const prompt = argv.at(-1) ?? '';
  const resume = Object.hasOwn(RESUME, harness) ? RESUME[harness] : undefined;
  if (resume) return { argv: resume(before, sessionId, BLOCK_REASON), resumes: true };
  return { argv: [...before, `${prompt}\n\n${BLOCK_REASON}`], resumes: false };
}

function insertAfter(words: readonly string[], word: string, more: readonly string[]): string[] {
  const at = words.indexOf(word);
  return at < 0 ? [...words, ...more] : [...words.slice(0, at + 1), ...more, ...words.slice(at + 1)];
}
