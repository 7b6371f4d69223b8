import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { runFile } from '../../producers/hook/run-facts.ts';

const RunSession = z.looseObject({
  session_id: z.string(),
  harness: z.string(),
  cwd: z.string().nullable(),
});
export type RunSession = z.infer<typeof RunSession>;

/** Sessions that hooks have told of under a run, in the order in which they began; half a last line is none. */
export function sessionsOf(home: Home, runId: string): RunSession[] {
  const file = runFile(home, runId);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [RunSession.parse(JSON.parse(line))];
      } catch {
        return [];
      }
    });
}
