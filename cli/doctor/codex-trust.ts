import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const ANSWER_MS = 20_000;

const Hook = z.looseObject({
  eventName: z.string(),
  command: z.string().nullable().optional(),
  enabled: z.boolean().default(true),
  trustStatus: z.string(),
});
const Listed = z.looseObject({ data: z.array(z.looseObject({ hooks: z.array(Hook) })) });
const Reply = z.looseObject({ id: z.number(), result: z.unknown().optional() });

export interface CodexTrust {
  trusted: number;
  /** Events whose hook of ours Codex would not run. */
  untrusted: string[];
}

/**
 * Asks Codex itself (`codex app-server`, `hooks/list`) which of our hooks it trusts: how it hashes them is its own.
 * @returns null when it gives no answer that is understood
 */
export function codexTrust(
  program: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  hook: string,
): Promise<CodexTrust | null> {
  return new Promise((resolve) => {
    const child = spawn(program, ['app-server'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
    const settle = (answer: CodexTrust | null) => {
      clearTimeout(timer);
      child.kill();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(null), ANSWER_MS);
    const say = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
    child.on('error', () => settle(null));
    child.on('close', () => settle(null));
    child.stdin.on('error', () => settle(null));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const reply = replyIn(line);
      if (reply?.id === 1) {
        say({ method: 'initialized' });
        say({ id: 2, method: 'hooks/list', params: { cwds: [cwd] } });
      } else if (reply?.id === 2) settle(trustIn(reply.result, hook));
    });
    const clientInfo = { name: 'flipstream', title: 'flipstream', version: '0' };
    say({ id: 1, method: 'initialize', params: { clientInfo } });
  });
}

function replyIn(line: string): z.infer<typeof Reply> | null {
  try {
    return Reply.parse(JSON.parse(line));
  } catch {
    return null;
  }
}

function trustIn(result: unknown, hook: string): CodexTrust | null {
  const listed = Listed.safeParse(result);
  if (!listed.success) return null;
  const ours = listed.data.data
    .flatMap(({ hooks }) => hooks)
    .filter(({ command }) => command?.includes(hook));
  const runs = (one: z.infer<typeof Hook>) => one.enabled && /^(trusted|managed)$/i.test(one.trustStatus);
  return {
    trusted: ours.filter(runs).length,
    untrusted: ours.filter((one) => !runs(one)).map(({ eventName }) => eventName),
  };
}
