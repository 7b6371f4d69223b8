import type { Call } from './drafts.ts';

/** The calls of a file that wait for their result; where an id comes again before its result has, nobody answers the first. */
export interface OpenCalls {
  begin(id: string, call: Call): void;
  /** @returns the call whose result has come, if one waits for it */
  take(id: string): Call | undefined;
  /** Whether any waits. */
  waits(): boolean;
  /** Those that nobody answered, in order. */
  left(): Call[];
}

export function createOpenCalls(): OpenCalls {
  const open = new Map<string, Call>();
  const unanswered: Call[] = [];
  return {
    begin(id, call) {
      const before = open.get(id);
      if (before) unanswered.push(before);
      open.set(id, call);
    },
    take(id) {
      const call = open.get(id);
      open.delete(id);
      return call;
    },
    waits: () => open.size > 0,
    left: () => [...unanswered, ...open.values()],
  };
}
