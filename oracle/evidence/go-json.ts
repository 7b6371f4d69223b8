import { z } from 'zod';
import { parseJson } from './json-lines.ts';
import type { ReadReport, TestOutcome } from './report.ts';

const Event = z.looseObject({ Action: z.string(), Package: z.string(), Test: z.string() });

// A map, as in each reader: an object has a `constructor` and more, which is no outcome.
const OUTCOMES = new Map<string, TestOutcome>([
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);

/** `go test -json`: an event a line; what a compiler says stands between them. */
export const readGoJson: ReadReport = (text) => {
  // Of a million lines that are no event each would cost an exception.
  const lines = text.split('\n').filter((line) => line.includes('"Test"'));
  const tests = lines.flatMap((line) => {
    const event = Event.safeParse(parseJson(line));
    const outcome = event.success ? OUTCOMES.get(event.data.Action) : undefined;
    return event.success && outcome ? [{ id: `${event.data.Package}::${event.data.Test}`, outcome }] : [];
  });
  return tests.length > 0 ? tests : null;
};
