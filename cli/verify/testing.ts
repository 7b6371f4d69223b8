/** A session as it would be exported: two chains of real shape, a baseline, FAIL, then PASS. For tests. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CONTENT_FIELDS } from '../../schemas/content.ts';
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { saltedDigest, sha256 } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import { type KeyRing, signVerdict, verdictHash } from '../../schemas/signature.ts';
import { blankEvent } from '../../schemas/testing.ts';

export const SESSION = '7f38fb4c-9de4-44c5-857a-c2bd3599294d';
const SALT = '0f'.repeat(16);

export interface Sample {
  events: TraceEvent[];
  verdicts: Verdict[];
  ring: KeyRing;
  privateKey: KeyObject;
}

/** Appends an event to a chain. */
function append(chain: TraceEvent[], fields: Partial<TraceEvent>): TraceEvent {
  const before = chain.at(-1);
  const event: TraceEvent = {
    ...blankEvent(),
    session_id: SESSION,
    chain_id: 'chain-a',
    seq: chain.length,
    prev: before ? headerHash(before) : null,
    event_id: sha256(`${chain.length}`),
    ts: new Date(Date.UTC(2026, 0, 1) + chain.length).toISOString(),
    harness: 'claude-code',
    host_id: 'host',
    ...fields,
  };
  for (const field of CONTENT_FIELDS) {
    const content = event[`${field}_redacted`];
    if (content === null) continue;
    event.salt = SALT;
    event[`${field}_digest`] = saltedDigest(SALT, content);
  }
  chain.push(event);
  return event;
}

function verdict(fields: Partial<Verdict>, before: Verdict | undefined): Omit<Verdict, 'signature'> {
  return {
    v: 1,
    verdict_id: 'v0',
    request_id: null,
    requester: null,
    session_id: null,
    chain_id: null,
    head: null,
    attempt: 0,
    task_id: 'task-1',
    task_family: null,
    task_split: 'train',
    mode: 'baseline',
    verdict: 'FAIL',
    base_commit: 'c'.repeat(40),
    tests_hash: 'd'.repeat(64),
    diff_hash: null,
    image: null,
    runner: 'process',
    placement: 'same_host',
    evidence: 'in_process',
    oracle_host: 'oracle',
    oracle_version: '1',
    released_at: '2026-01-01T00:00:00.000Z',
    key_id: 'key-1',
    oracle_seq: before ? before.oracle_seq + 1 : 0,
    oracle_prev: before ? verdictHash(before) : null,
    cached_from: null,
    retracts: null,
    ...fields,
  };
}

export function sampleSession(cwd = '/repo'): Sample {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const ring: KeyRing = {
    v: 1,
    keys: [
      {
        key_id: 'key-1',
        public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
        runners: ['process'],
        placements: ['same_host'],
      },
    ],
  };
  const events: TraceEvent[] = [];
  const verdicts = [signVerdict(verdict({}, undefined), privateKey)];
  const grade = (code: 'PASS' | 'FAIL', id: string) => {
    const head = headerHash(events.at(-1) ?? {});
    append(events, {
      type: 'notice',
      kind: 'grade_requested',
      request_id: id,
      diff_hash: sha256(id),
      diff_redacted: `+ ${id}`,
    });
    append(events, { type: 'oracle_verdict', request_id: id, verdict: code, mode: 'grade' });
    const attempt = verdicts.length;
    const fields = {
      verdict_id: `v${attempt}`,
      mode: 'grade',
      session_id: SESSION,
      chain_id: 'chain-a',
      request_id: id,
      attempt,
      verdict: code,
      head,
      diff_hash: sha256(id),
    };
    verdicts.push(signVerdict(verdict(fields, verdicts.at(-1)), privateKey));
  };
  append(events, {
    type: 'session_start',
    cwd,
    task_id: 'task-1',
    base_commit: 'c'.repeat(40),
    task_source: 'dispatch',
    tree_hash: 'clean',
    inherited: false,
  });
  append(events, { type: 'message', role: 'user', text_redacted: 'mend the bug "now" \u2028 \ufffd' });
  append(events, {
    type: 'tool_call',
    tool_name: 'Bash',
    status: 'ok',
    input_redacted: '{"command":"ls"}',
    output_redacted: 'a\nb',
  });
  grade('FAIL', 'r1');
  append(events, { type: 'message', role: 'assistant', text_redacted: 'Done.' });
  grade('PASS', 'r2');
  append(events, { type: 'session_end', reason: 'other' });
  return { events, verdicts, ring, privateKey };
}
