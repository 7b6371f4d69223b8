import type { Draft } from '../draft.ts';
import { onCallEnded, onCallSeen, onCallStarted } from './join-calls.ts';
import { idOf } from './proto.ts';
import type { OpenCall, Part } from './session-state.ts';
import { absorb, isKnown, ownerOf, type Work } from './work.ts';

/**
 * What is told of a tool call by a harness that gives calls no id. The call is named after what told it first; an end
 * belongs to the oldest call that is open with the same tool and the same arguments. Calls that run side by side and
 * are alike in both cannot be told apart, and nothing is lost when they are taken for one another.
 * @param telling identity of this draft: told again, it is no news
 */
export function onUnnamedCall(
  work: Work,
  agentId: string | null,
  draft: Draft,
  telling: string,
  part: Part,
): void {
  const told = idOf(ownerOf(work, agentId), 'call_told', { own_id: telling });
  if (isKnown(work, told)) return;
  absorb(work, told);
  const own = telling.slice(0, 32);
  if (draft.role === 'call_started') {
    onCallStarted(work, agentId, own, part);
    return;
  }
  const id = openLike(work, agentId, part)?.id ?? own;
  if (draft.role === 'call_ended') onCallEnded(work, agentId, id, part, draft.final);
  else onCallSeen(work, agentId, id, part);
}

function openLike(work: Work, agentId: string | null, part: Part): OpenCall | undefined {
  return [...work.calls.values()]
    .filter(
      ({ agent_id, started, ended }) => agent_id === agentId && !ended && started && alike(started, part),
    )
    .sort((a, b) => order(a, b))[0];
}

function alike(started: Part, ended: Part): boolean {
  if (started.fields.tool_name !== ended.fields.tool_name) return false;
  return started.content.input?.hash === ended.content.input?.hash;
}

const key = ({ started, id }: OpenCall) => `${started?.ts ?? ''} ${id}`;
const order = (a: OpenCall, b: OpenCall) => (key(a) < key(b) ? -1 : 1);
