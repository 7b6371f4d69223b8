import { z } from 'zod';
import type { ReadReport } from './report.ts';

const Line = z.object({
  id: z.string(),
  outcome: z.enum(['passed', 'failed', 'skipped', 'xfailed', 'error']),
});

/** The form that our own reporters write (reporters.ts): a JSON object a line. A line that is cut short makes it unreadable. */
export const readJsonLines: ReadReport = (text) => {
  const tests = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const parsed = Line.safeParse(parseJson(line));
    if (!parsed.success) return null;
    tests.push(parsed.data);
  }
  return tests.length > 0 ? tests : null;
};

/** @returns undefined for what is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
