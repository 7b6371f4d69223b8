import { z } from 'zod';
import { parseJson } from './json-lines.ts';
import type { ReadReport, TestOutcome } from './report.ts';

const Event = z.looseObject({ Action: z.string(), Package: z.string(), Test: z.string() });

const OUTCOMES: Record<string, TestOutcome> = { pass: 'passed', fail: 'failed', skip: 'skipped' };

/** `go test -json`: an event a line; what a compiler says stands between them. */
export const readGoJson: ReadReport = (text) => {
  const tests = text.split('\n').flatMap((line) => {
    const event = Event.safeParse(parseJson(line));
    const outcome = event.success ? OUTCOMES[event.data.Action] : undefined;
    return event.success && outcome ? [{ id: `${event.data.Package}::${event.data.Test}`, outcome }] : [];
  });
  return tests.length > 0 ? tests : null;
};
