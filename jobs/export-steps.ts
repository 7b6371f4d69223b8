/** What an agent was given and what it answered: which calls it made at once, and which only when it had a result. */
import type { TraceEvent } from '../schemas/generated.ts';

/** One answer of the model: what it said (null: nothing) and the calls that it made with it. */
export interface Answer {
  is: 'answer';
  said: TraceEvent | null;
  calls: TraceEvent[];
  thoughts: TraceEvent[];
}

export interface Given {
  is: 'system' | 'user';
  event: TraceEvent;
}

/** @param events one agent's, in order */
export function stepsOf(events: readonly TraceEvent[]): (Answer | Given)[] {
  const steps: (Answer | Given)[] = [];
  /** By call: the results that the agent had when it began, where its beginning is told. */
  const begun = new Map<string, number>();
  let results = 0;
  /** The results that there were before the answer's own. */
  let before = 0;
  let answer: Answer | null = null;
  let thoughts: TraceEvent[] = [];

  function answered(said: TraceEvent | null): Answer {
    const made: Answer = { is: 'answer', said, calls: [], thoughts };
    thoughts = [];
    steps.push(made);
    return made;
  }

  function isPart({ said, calls }: Answer, call: TraceEvent): boolean {
    const last = calls.at(-1) ?? said;
    if (last && last.message_id !== null && call.message_id !== null)
      return last.message_id === call.message_id;
    if (calls.length === 0) return true;
    return (begun.get(call.tool_use_id ?? '') ?? Number.POSITIVE_INFINITY) <= before;
  }

  for (const event of events) {
    const { type, kind, role, tool_use_id: id } = event;
    if (type === 'message' && role === 'assistant') answer = answered(event);
    else if (type === 'message' || kind === 'system_prompt') {
      steps.push({ is: type === 'message' ? 'user' : 'system', event });
      answer = null;
    } else if (kind === 'thinking') thoughts.push(event);
    else if (kind === 'call_started' && id !== null) begun.set(id, results);
    else if (type === 'tool_call') {
      if (!answer || !isPart(answer, event)) answer = answered(null);
      if (answer.calls.length === 0) before = results;
      answer.thoughts.push(...thoughts.splice(0));
      answer.calls.push(event);
      results++;
    }
  }
  return steps;
}
