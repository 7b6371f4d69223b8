/**
 * Files that harnesses keep beside their trajectories and that are none. Where what a file holds would not tell it
 * from any other, its name does.
 */
import { basename, dirname } from 'node:path';
import { asPayload } from '../adapters/payload.ts';
import type { Peek } from './peek.ts';

interface Sidecar {
  /** Whose and what, for the closing table. */
  what: string;
  is: (name: string, look: Peek, path: string) => boolean;
}

const SIDECARS: readonly Sidecar[] = [
  {
    what: 'claude-code: what a subagent was begun as',
    is: (name, { root }) => root === 'object' && /^(?:remote-)?agent-.+\.meta\.json$/.test(name),
  },
  {
    what: 'claude-code: a long output of a tool',
    // in the folder of a session, which is named after its id
    is: (_, __, path) =>
      basename(dirname(path)) === 'tool-results' && /^[\da-f]{8}-/.test(basename(dirname(dirname(path)))),
  },
  {
    what: 'claude-code: an index of sessions',
    is: (name, { names }) => name === 'sessions-index.json' && names.has('entries'),
  },
  {
    what: 'gemini: a list of prompts',
    is: (_, { elements: [first] }) =>
      typeof first?.sessionId === 'string' && typeof first.messageId === 'number',
  },
  {
    what: 'gemini: a saved conversation',
    is: (name, { root }) => root !== null && /^checkpoint.*\.json$/.test(name),
  },
  {
    what: 'openhands-sdk: the state of a conversation',
    is: (name, { root }) => root === 'object' && name === 'base_state.json',
  },
  {
    what: 'swe-agent, mini-swe-agent: predictions',
    is: (name, { root, fields, lines: [first] }) =>
      [fields, first, ...Object.values(fields)].some(isPrediction) ||
      (root === 'object' && name === 'preds.json'),
  },
  {
    what: 'swe-bench, swe-smith: a summary of evaluations',
    is: (_, { names }) => names.has('resolved_ids') || names.has('ids_resolved'),
  },
];

function isPrediction(value: unknown): boolean {
  const fields = asPayload(value);
  return fields !== null && 'model_patch' in fields && 'instance_id' in fields && !('messages' in fields);
}

/** @returns what the file is, or null when it may be a trajectory */
export function sidecarOf(path: string, look: Peek): string | null {
  return SIDECARS.find(({ is }) => is(basename(path), look, path))?.what ?? null;
}
