import type { Call } from './drafts.ts';

/** The calls of a file that wait for their result. Calls may share an id. */
export interface OpenCalls {
  begin(id: string, call: Call): void;
  /** @returns the call that a result is of, if one waits for it: of the latest message's, of those of the first */
  take(id: string): Call | undefined;
  /** Those that wait, in order: nobody answered them when the file has ended. */
  left(): Call[];
}

export function createOpenCalls(): OpenCalls {
  const open: { id: string; call: Call }[] = [];
  return {
    begin(id, call) {
      open.push({ id, call });
    },
    take(id) {
      const of = open.findLast((one) => one.id === id)?.call.fields?.message_id;
      const at = open.findIndex((one) => one.id === id && one.call.fields?.message_id === of);
      return at === -1 ? undefined : open.splice(at, 1)[0]?.call;
    },
    left: () => open.map(({ call }) => call),
  };
}
