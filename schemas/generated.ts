// Generated from schemas/avro by scripts/generate-types.ts. Do not edit: npm run generate.

export type EventType = 'session_start' | 'message' | 'tool_call' | 'oracle_verdict' | 'session_end' | 'notice';

/** A record that could not be decoded or processed. */
export interface DeadLetter {
  source_topic: string;
  source_partition: number;
  source_offset: number;
  group: string;
  /** A stable code of schemas/errors.ts. */
  reason: string;
  /** What happened, for a person; never content. */
  message: string;
  key: string | null;
  /** SHA-256 of the original bytes. */
  value_hash: string;
  value_bytes: number;
  at: string;
  /** The original bytes, sealed (age) to the reviewer's key when they are encoded. */
  content: Buffer | null;
}

/** What one session adds to or takes from its bucket: the old contribution negated, the new one added. */
export interface FlipMetricDelta {
  /** Canonical JSON array of the dimensions; the topic's key. */
  bucket: string;
  day: string;
  repo: string | null;
  harness: string | null;
  model: string | null;
  task_family: string | null;
  sessions: number;
  /** Sessions with an accepted PASS or FAIL. */
  graded: number;
  flipped: number;
  no_flip: number;
  attempts: number;
  oracle_errors: number;
  withheld: number;
  gaps: number;
  /** Sessions on a task; null where a release before this field told the session. */
  with_task: number | null;
}

/** Counts of one bucket: UTC day of the session's first event, and its dimensions. Never by person (book, chapter 16). */
export interface FlipMetric {
  /** Canonical JSON array of the dimensions; the topic's key. */
  bucket: string;
  day: string;
  repo: string | null;
  harness: string | null;
  model: string | null;
  task_family: string | null;
  sessions: number;
  /** Sessions with an accepted PASS or FAIL. */
  graded: number;
  flipped: number;
  no_flip: number;
  attempts: number;
  oracle_errors: number;
  withheld: number;
  gaps: number;
  /** Sessions on a task, each of which has a hidden test; null in a bucket that a release before this field began. */
  with_task: number | null;
}

/** The oracle said FAIL before the agent started and PASS after it finished. */
export interface Flip {
  session_id: string;
  task_id: string;
  /** The lowest attempt with an accepted PASS. */
  attempt: number;
  chain_id: string;
  /** The graded trajectory is exactly what hashes up to this head. */
  head: string;
  base_commit: string;
  tests_hash: string;
  runner: string;
  placement: string;
  evidence: string;
  /** The signed baseline, canonical JSON. */
  baseline: string;
  /** The signed verdict, canonical JSON. */
  verdict: string;
  /** The verdict's release time. */
  flipped_at: string;
  /** Number of distinct inputs merged. */
  revision: number;
  /** Why the flip no longer holds; null while it does. */
  retracted: string | null;
}

/** An event whose content a scanner hit or could not scan, kept for a person to review. */
export interface Quarantined {
  event_id: string;
  session_id: string;
  ts: string;
  type: string;
  /** hit, timeout or scanner_failed. */
  reason: string;
  rules: string[];
  scanner: string;
  /** The whole event as canonical JSON, sealed (age) to the reviewer's key when it is encoded. */
  content: Buffer | null;
}

export interface ChainState {
  chain_id: string;
  events: number;
  last_seq: number;
  missing: number;
  forks: number;
}

/** The joined state of one session: what its chains and its signed verdicts say together. */
export interface Session {
  session_id: string;
  harness: string | null;
  harness_version: string | null;
  model: string | null;
  /** root_commit, else remote_url_hash. */
  repo: string | null;
  task_id: string | null;
  task_source: string | null;
  task_family: string | null;
  task_split: string | null;
  base_commit: string | null;
  config_hash: string | null;
  capture: string | null;
  /** ts of the earliest event. */
  started_at: string | null;
  last_event_at: string | null;
  /** The last event of the capturing chain is a session_end. */
  ended: boolean;
  /** From signed verdicts: flipped, no_flip; else from the end: aborted, no_task, ungraded, pending, oracle_error, gate_error; null while open. */
  outcome: string | null;
  /** Distinct accepted grade verdicts that are PASS or FAIL. */
  attempts: number;
  events: number;
  turns: number;
  messages: number;
  tool_calls: number;
  /** Tool calls that ended error, denied or interrupted. */
  tool_errors: number;
  withheld: number;
  redacted: number;
  /** Events missing inside the chains, and counted losses. */
  gaps: number;
  oracle_errors: number;
  chains: ChainState[];
  baseline_verdict_id: string | null;
  /** The accepted PASS with the lowest attempt, else the accepted FAIL with the highest. */
  verdict_id: string | null;
  runner: string | null;
  placement: string | null;
  evidence: string | null;
  /** Sorted reasons to look twice: imported, inherited, history_visible, fork, many_chains, unsolicited, unconfirmed, rejected:<reason>, ... */
  marks: string[];
  /** No mark forbids the session in a dataset. */
  usable: boolean;
  /** Number of distinct inputs merged. */
  revision: number;
}

/** The public part of a task: what may be known outside the oracle. */
export interface Task {
  task_id: string;
  root_commit: string;
  base_commit: string;
  tests_hash: string;
  image: string | null;
  family: string | null;
  split: string;
  /** ready, quarantined or unchecked. */
  status: string;
  reason: string | null;
  checked_at: string | null;
  /** The runner of the oracle that holds it: process, container or vm. */
  runner: string | null;
  /** in_process or out_of_process. */
  evidence: string | null;
  /** What reports the tests' ids; null when exit codes decide. */
  framework: string | null;
  /** Whether a solution was seen to pass; null before a check, or when the task has none. */
  reference_passed: boolean | null;
  /** Tests of the existing suite that are left out, since they did not pass every time. */
  suite_excluded: number | null;
  /** A person accepted what the check would have refused; the oracle's operator knows why. */
  accepted: boolean | null;
}

export interface Redaction {
  /** text, input, output, result or diff. */
  field: string;
  /** Salted digest of the content before. */
  before: string;
  /** Salted digest of the content after. */
  after: string;
  rule: string;
  /** Scanner and version. */
  scanner: string;
}

/** One event of a coding-agent session (book, appendix A): an envelope and the fields of its type. Content is only ever in the _redacted fields. */
export interface TraceEvent {
  /** Schema version of the event. */
  v: number;
  /** Identity: 64 hex digits, SHA-256 (schemas/identity.ts). */
  event_id: string;
  session_id: string;
  /** The collector's home that captured the event. */
  chain_id: string;
  /** Position in the chain (session_id, chain_id), from 0. */
  seq: number;
  /** Header hash of the event before it in the chain; null for the first. */
  prev: string | null;
  /** Time of capture, ISO 8601 UTC with milliseconds, always 24 characters. */
  ts: string;
  type: EventType;
  /** Number of user prompts seen in the session before or at this event. */
  turn: number | null;
  harness: string;
  harness_version: string | null;
  /** The harness's own name of the hook event. */
  harness_event: string | null;
  host_id: string;
  /** Set inside a subagent only. */
  agent_id: string | null;
  agent_type: string | null;
  parent_tool_use_id: string | null;
  prompt_id: string | null;
  /** same_user or separate_user: whether the collector ran as the agent's own OS user. */
  capture: string | null;
  /** command or http; null for events the collector made itself. */
  transport: string | null;
  /** True when the collector concluded the event instead of a hook reporting it. */
  synthetic: boolean | null;
  /** Of an imported event: the session's id where it was recorded; its session_id is import:<format>:<id>. Of a later attempt of a run: the id that the harness gave it. */
  original_id: string | null;
  /** The session that this one was forked from, resumed from or started by. */
  parent_session_id: string | null;
  /** The `flipstream run` that started the session: its attempts share it, and a budget. */
  run_id: string | null;
  /** Of an imported event whose origin tells no time: ts is the last time known before it, else the file's. */
  ts_inferred: boolean | null;
  cwd: string | null;
  base_commit: string | null;
  /** Identity of the repository: its oldest root commit. */
  root_commit: string | null;
  remote_url_hash: string | null;
  model: string | null;
  /** How the session began: startup, resume, clear, compact, fork. */
  source: string | null;
  task_id: string | null;
  /** dispatch (made by task start) or project (hand-written). */
  task_source: string | null;
  config_hash: string | null;
  /** Hash of the tree's diff against the base at SessionStart; 'clean', a SHA-256, or 'unknown'. */
  tree_hash: string | null;
  /** The session began in a tree that is not the base's. */
  inherited: boolean | null;
  /** The clone held objects newer than the base. */
  history_visible: boolean | null;
  /** user or assistant. */
  role: string | null;
  message_id: string | null;
  text_redacted: string | null;
  /** HMAC-SHA-256 of the whole unredacted value under the installation's key. */
  text_hash: string | null;
  /** SHA-256 of salt and content as stored at capture; part of the header. */
  text_digest: string | null;
  /** UTF-8 length of the whole unredacted value. */
  text_bytes: number | null;
  truncated: boolean | null;
  tool_name: string | null;
  /** What the tool does, whatever the harness calls it: shell, read, edit, write, search, fetch, plan, agent, mcp, other. */
  tool_kind: string | null;
  tool_use_id: string | null;
  /** How a tool call ended: ok, error, denied, interrupted. */
  status: string | null;
  exit_code: number | null;
  duration_ms: number | null;
  /** Tool arguments, JSON text. */
  input_redacted: string | null;
  input_hash: string | null;
  input_digest: string | null;
  input_bytes: number | null;
  /** The result as the model saw it. */
  output_redacted: string | null;
  output_hash: string | null;
  output_digest: string | null;
  output_bytes: number | null;
  /** The harness's own structured result, JSON text. */
  result_redacted: string | null;
  result_hash: string | null;
  result_digest: string | null;
  result_bytes: number | null;
  request_id: string | null;
  attempt: number | null;
  mode: string | null;
  /** What the gate was answered: PASS, FAIL, ERROR, PENDING, NO_TASK. A claim of the agent's host, not evidence. */
  verdict: string | null;
  tests_hash: string | null;
  image_digest: string | null;
  /** Plain SHA-256 of the diff sent to the oracle. */
  diff_hash: string | null;
  oracle_host: string | null;
  signature: string | null;
  diff_redacted: string | null;
  diff_digest: string | null;
  diff_bytes: number | null;
  outcome: string | null;
  attempts: number | null;
  final_diff_hash: string | null;
  reason: string | null;
  ended_at: string | null;
  /** What a notice tells: rules_loaded, call_started, compaction, api_failure, ... */
  kind: string | null;
  /** For notices that count: events lost, pieces joined. */
  count: number | null;
  /** 16 random bytes, hex; lies with the content and goes with it. Outside the header. */
  salt: string | null;
  /** Why the content is not here: quarantined or erased. Outside the header. */
  withheld: string | null;
  /** Set by redact: another event with this chain and seq was there first. Outside the header. */
  fork: boolean | null;
  /** Replacements made after capture. Outside the header. */
  redactions: Redaction[];
}

/** One signed answer of the oracle. The signature is Ed25519 over the canonical JSON (RFC 8785) of all other fields, nulls left out. */
export interface Verdict {
  v: number;
  verdict_id: string;
  request_id: string | null;
  /** The token's principal. */
  requester: string | null;
  /** Null in a baseline: it belongs to the task and is copied under each graded session's key. */
  session_id: string | null;
  chain_id: string | null;
  /** Header hash of the chain's last event when the grade was asked for. */
  head: string | null;
  /** Numbered by the oracle, from 1; 0 for a baseline. */
  attempt: number | null;
  task_id: string;
  task_family: string | null;
  task_split: string | null;
  /** baseline, grade, or regrade: a grade run again, which withdraws another. */
  mode: string;
  /** PASS, FAIL or ERROR. */
  verdict: string;
  base_commit: string;
  tests_hash: string;
  diff_hash: string | null;
  image: string | null;
  /** process, container or vm. */
  runner: string;
  /** same_host or separate_host. */
  placement: string;
  /** in_process or out_of_process. */
  evidence: string;
  oracle_host: string;
  oracle_version: string;
  released_at: string;
  key_id: string;
  /** Position in the key's own chain of verdicts. */
  oracle_seq: number;
  /** SHA-256 of the canonical signed verdict before it in the key's chain. */
  oracle_prev: string | null;
  cached_from: string | null;
  /** Verdict id that this one withdraws, after a regrade. */
  retracts: string | null;
  /** base64 */
  signature: string;
}

/** Record types by schema name. */
export interface Records {
  DeadLetter: DeadLetter;
  FlipMetricDelta: FlipMetricDelta;
  FlipMetric: FlipMetric;
  Flip: Flip;
  Quarantined: Quarantined;
  Session: Session;
  Task: Task;
  TraceEvent: TraceEvent;
  Verdict: Verdict;
}

export const SCHEMA_NAMES = [
  'DeadLetter',
  'FlipMetricDelta',
  'FlipMetric',
  'Flip',
  'Quarantined',
  'Session',
  'Task',
  'TraceEvent',
  'Verdict',
] as const;

export type SchemaName = (typeof SCHEMA_NAMES)[number];

/** The Avro schemas themselves, so that nothing is read from disk at run time. */
export const SCHEMAS: Readonly<Record<SchemaName, unknown>> = {
  DeadLetter: {"type":"record","name":"DeadLetter","doc":"A record that could not be decoded or processed.","fields":[{"name":"source_topic","type":"string"},{"name":"source_partition","type":"int"},{"name":"source_offset","type":"long"},{"name":"group","type":"string"},{"name":"reason","type":"string","doc":"A stable code of schemas/errors.ts."},{"name":"message","type":"string","doc":"What happened, for a person; never content."},{"name":"key","type":["null","string"],"default":null},{"name":"value_hash","type":"string","doc":"SHA-256 of the original bytes."},{"name":"value_bytes","type":"long"},{"name":"at","type":"string"},{"name":"content","type":["null","bytes"],"doc":"The original bytes, sealed (age) to the reviewer's key when they are encoded.","default":null}],"namespace":"flipstream"},
  FlipMetricDelta: {"type":"record","name":"FlipMetricDelta","doc":"What one session adds to or takes from its bucket: the old contribution negated, the new one added.","fields":[{"name":"bucket","type":"string","doc":"Canonical JSON array of the dimensions; the topic's key."},{"name":"day","type":"string"},{"name":"repo","type":["null","string"],"default":null},{"name":"harness","type":["null","string"],"default":null},{"name":"model","type":["null","string"],"default":null},{"name":"task_family","type":["null","string"],"default":null},{"name":"sessions","type":"long"},{"name":"graded","type":"long","doc":"Sessions with an accepted PASS or FAIL."},{"name":"flipped","type":"long"},{"name":"no_flip","type":"long"},{"name":"attempts","type":"long"},{"name":"oracle_errors","type":"long"},{"name":"withheld","type":"long"},{"name":"gaps","type":"long"},{"name":"with_task","type":["null","long"],"doc":"Sessions on a task; null where a release before this field told the session.","default":null}],"namespace":"flipstream"},
  FlipMetric: {"type":"record","name":"FlipMetric","doc":"Counts of one bucket: UTC day of the session's first event, and its dimensions. Never by person (book, chapter 16).","fields":[{"name":"bucket","type":"string","doc":"Canonical JSON array of the dimensions; the topic's key."},{"name":"day","type":"string"},{"name":"repo","type":["null","string"],"default":null},{"name":"harness","type":["null","string"],"default":null},{"name":"model","type":["null","string"],"default":null},{"name":"task_family","type":["null","string"],"default":null},{"name":"sessions","type":"long"},{"name":"graded","type":"long","doc":"Sessions with an accepted PASS or FAIL."},{"name":"flipped","type":"long"},{"name":"no_flip","type":"long"},{"name":"attempts","type":"long"},{"name":"oracle_errors","type":"long"},{"name":"withheld","type":"long"},{"name":"gaps","type":"long"},{"name":"with_task","type":["null","long"],"doc":"Sessions on a task, each of which has a hidden test; null in a bucket that a release before this field began.","default":null}],"namespace":"flipstream"},
  Flip: {"type":"record","name":"Flip","doc":"The oracle said FAIL before the agent started and PASS after it finished.","fields":[{"name":"session_id","type":"string"},{"name":"task_id","type":"string"},{"name":"attempt","type":"long","doc":"The lowest attempt with an accepted PASS."},{"name":"chain_id","type":"string"},{"name":"head","type":"string","doc":"The graded trajectory is exactly what hashes up to this head."},{"name":"base_commit","type":"string"},{"name":"tests_hash","type":"string"},{"name":"runner","type":"string"},{"name":"placement","type":"string"},{"name":"evidence","type":"string"},{"name":"baseline","type":"string","doc":"The signed baseline, canonical JSON."},{"name":"verdict","type":"string","doc":"The signed verdict, canonical JSON."},{"name":"flipped_at","type":"string","doc":"The verdict's release time."},{"name":"revision","type":"long","doc":"Number of distinct inputs merged."},{"name":"retracted","type":["null","string"],"doc":"Why the flip no longer holds; null while it does.","default":null}],"namespace":"flipstream"},
  Quarantined: {"type":"record","name":"Quarantined","doc":"An event whose content a scanner hit or could not scan, kept for a person to review.","fields":[{"name":"event_id","type":"string"},{"name":"session_id","type":"string"},{"name":"ts","type":"string"},{"name":"type","type":"string"},{"name":"reason","type":"string","doc":"hit, timeout or scanner_failed."},{"name":"rules","type":{"type":"array","items":"string"},"default":[]},{"name":"scanner","type":"string"},{"name":"content","type":["null","bytes"],"doc":"The whole event as canonical JSON, sealed (age) to the reviewer's key when it is encoded.","default":null}],"namespace":"flipstream"},
  Session: {"type":"record","name":"Session","doc":"The joined state of one session: what its chains and its signed verdicts say together.","fields":[{"name":"session_id","type":"string"},{"name":"harness","type":["null","string"],"default":null},{"name":"harness_version","type":["null","string"],"default":null},{"name":"model","type":["null","string"],"default":null},{"name":"repo","type":["null","string"],"doc":"root_commit, else remote_url_hash.","default":null},{"name":"task_id","type":["null","string"],"default":null},{"name":"task_source","type":["null","string"],"default":null},{"name":"task_family","type":["null","string"],"default":null},{"name":"task_split","type":["null","string"],"default":null},{"name":"base_commit","type":["null","string"],"default":null},{"name":"config_hash","type":["null","string"],"default":null},{"name":"capture","type":["null","string"],"default":null},{"name":"started_at","type":["null","string"],"doc":"ts of the earliest event.","default":null},{"name":"last_event_at","type":["null","string"],"default":null},{"name":"ended","type":"boolean","doc":"The last event of the capturing chain is a session_end.","default":false},{"name":"outcome","type":["null","string"],"doc":"From signed verdicts: flipped, no_flip; else from the end: aborted, no_task, ungraded, pending, oracle_error, gate_error; null while open.","default":null},{"name":"attempts","type":"long","doc":"Distinct accepted grade verdicts that are PASS or FAIL.","default":0},{"name":"events","type":"long","default":0},{"name":"turns","type":"long","default":0},{"name":"messages","type":"long","default":0},{"name":"tool_calls","type":"long","default":0},{"name":"tool_errors","type":"long","doc":"Tool calls that ended error, denied or interrupted.","default":0},{"name":"withheld","type":"long","default":0},{"name":"redacted","type":"long","default":0},{"name":"gaps","type":"long","doc":"Events missing inside the chains, and counted losses.","default":0},{"name":"oracle_errors","type":"long","default":0},{"name":"chains","type":{"type":"array","items":{"type":"record","name":"ChainState","fields":[{"name":"chain_id","type":"string"},{"name":"events","type":"long"},{"name":"last_seq","type":"long"},{"name":"missing","type":"long"},{"name":"forks","type":"long"}]}},"default":[]},{"name":"baseline_verdict_id","type":["null","string"],"default":null},{"name":"verdict_id","type":["null","string"],"doc":"The accepted PASS with the lowest attempt, else the accepted FAIL with the highest.","default":null},{"name":"runner","type":["null","string"],"default":null},{"name":"placement","type":["null","string"],"default":null},{"name":"evidence","type":["null","string"],"default":null},{"name":"marks","type":{"type":"array","items":"string"},"doc":"Sorted reasons to look twice: imported, inherited, history_visible, fork, many_chains, unsolicited, unconfirmed, rejected:<reason>, ...","default":[]},{"name":"usable","type":"boolean","doc":"No mark forbids the session in a dataset.","default":false},{"name":"revision","type":"long","doc":"Number of distinct inputs merged.","default":0}],"namespace":"flipstream"},
  Task: {"type":"record","name":"Task","doc":"The public part of a task: what may be known outside the oracle.","fields":[{"name":"task_id","type":"string"},{"name":"root_commit","type":"string"},{"name":"base_commit","type":"string"},{"name":"tests_hash","type":"string"},{"name":"image","type":["null","string"],"default":null},{"name":"family","type":["null","string"],"default":null},{"name":"split","type":"string","default":"train"},{"name":"status","type":"string","doc":"ready, quarantined or unchecked."},{"name":"reason","type":["null","string"],"default":null},{"name":"checked_at","type":["null","string"],"default":null},{"name":"runner","type":["null","string"],"doc":"The runner of the oracle that holds it: process, container or vm.","default":null},{"name":"evidence","type":["null","string"],"doc":"in_process or out_of_process.","default":null},{"name":"framework","type":["null","string"],"doc":"What reports the tests' ids; null when exit codes decide.","default":null},{"name":"reference_passed","type":["null","boolean"],"doc":"Whether a solution was seen to pass; null before a check, or when the task has none.","default":null},{"name":"suite_excluded","type":["null","long"],"doc":"Tests of the existing suite that are left out, since they did not pass every time.","default":null},{"name":"accepted","type":["null","boolean"],"doc":"A person accepted what the check would have refused; the oracle's operator knows why.","default":null}],"namespace":"flipstream"},
  TraceEvent: {"type":"record","name":"TraceEvent","doc":"One event of a coding-agent session (book, appendix A): an envelope and the fields of its type. Content is only ever in the _redacted fields.","fields":[{"name":"v","type":"int","doc":"Schema version of the event."},{"name":"event_id","type":"string","doc":"Identity: 64 hex digits, SHA-256 (schemas/identity.ts)."},{"name":"session_id","type":"string"},{"name":"chain_id","type":"string","doc":"The collector's home that captured the event."},{"name":"seq","type":"long","doc":"Position in the chain (session_id, chain_id), from 0."},{"name":"prev","type":["null","string"],"doc":"Header hash of the event before it in the chain; null for the first.","default":null},{"name":"ts","type":"string","doc":"Time of capture, ISO 8601 UTC with milliseconds, always 24 characters."},{"name":"type","type":{"type":"enum","name":"EventType","symbols":["session_start","message","tool_call","oracle_verdict","session_end","notice"],"default":"notice"}},{"name":"turn","type":["null","long"],"doc":"Number of user prompts seen in the session before or at this event.","default":null},{"name":"harness","type":"string"},{"name":"harness_version","type":["null","string"],"default":null},{"name":"harness_event","type":["null","string"],"doc":"The harness's own name of the hook event.","default":null},{"name":"host_id","type":"string"},{"name":"agent_id","type":["null","string"],"doc":"Set inside a subagent only.","default":null},{"name":"agent_type","type":["null","string"],"default":null},{"name":"parent_tool_use_id","type":["null","string"],"default":null},{"name":"prompt_id","type":["null","string"],"default":null},{"name":"capture","type":["null","string"],"doc":"same_user or separate_user: whether the collector ran as the agent's own OS user.","default":null},{"name":"transport","type":["null","string"],"doc":"command or http; null for events the collector made itself.","default":null},{"name":"synthetic","type":["null","boolean"],"doc":"True when the collector concluded the event instead of a hook reporting it.","default":null},{"name":"original_id","type":["null","string"],"doc":"Of an imported event: the session's id where it was recorded; its session_id is import:<format>:<id>. Of a later attempt of a run: the id that the harness gave it.","default":null},{"name":"parent_session_id","type":["null","string"],"doc":"The session that this one was forked from, resumed from or started by.","default":null},{"name":"run_id","type":["null","string"],"doc":"The `flipstream run` that started the session: its attempts share it, and a budget.","default":null},{"name":"ts_inferred","type":["null","boolean"],"doc":"Of an imported event whose origin tells no time: ts is the last time known before it, else the file's.","default":null},{"name":"cwd","type":["null","string"],"default":null},{"name":"base_commit","type":["null","string"],"default":null},{"name":"root_commit","type":["null","string"],"doc":"Identity of the repository: its oldest root commit.","default":null},{"name":"remote_url_hash","type":["null","string"],"default":null},{"name":"model","type":["null","string"],"default":null},{"name":"source","type":["null","string"],"doc":"How the session began: startup, resume, clear, compact, fork.","default":null},{"name":"task_id","type":["null","string"],"default":null},{"name":"task_source","type":["null","string"],"doc":"dispatch (made by task start) or project (hand-written).","default":null},{"name":"config_hash","type":["null","string"],"default":null},{"name":"tree_hash","type":["null","string"],"doc":"Hash of the tree's diff against the base at SessionStart; 'clean', a SHA-256, or 'unknown'.","default":null},{"name":"inherited","type":["null","boolean"],"doc":"The session began in a tree that is not the base's.","default":null},{"name":"history_visible","type":["null","boolean"],"doc":"The clone held objects newer than the base.","default":null},{"name":"role","type":["null","string"],"doc":"user or assistant.","default":null},{"name":"message_id","type":["null","string"],"default":null},{"name":"text_redacted","type":["null","string"],"default":null},{"name":"text_hash","type":["null","string"],"doc":"HMAC-SHA-256 of the whole unredacted value under the installation's key.","default":null},{"name":"text_digest","type":["null","string"],"doc":"SHA-256 of salt and content as stored at capture; part of the header.","default":null},{"name":"text_bytes","type":["null","long"],"doc":"UTF-8 length of the whole unredacted value.","default":null},{"name":"truncated","type":["null","boolean"],"default":null},{"name":"tool_name","type":["null","string"],"default":null},{"name":"tool_kind","type":["null","string"],"doc":"What the tool does, whatever the harness calls it: shell, read, edit, write, search, fetch, plan, agent, mcp, other.","default":null},{"name":"tool_use_id","type":["null","string"],"default":null},{"name":"status","type":["null","string"],"doc":"How a tool call ended: ok, error, denied, interrupted.","default":null},{"name":"exit_code","type":["null","long"],"default":null},{"name":"duration_ms","type":["null","long"],"default":null},{"name":"input_redacted","type":["null","string"],"doc":"Tool arguments, JSON text.","default":null},{"name":"input_hash","type":["null","string"],"default":null},{"name":"input_digest","type":["null","string"],"default":null},{"name":"input_bytes","type":["null","long"],"default":null},{"name":"output_redacted","type":["null","string"],"doc":"The result as the model saw it.","default":null},{"name":"output_hash","type":["null","string"],"default":null},{"name":"output_digest","type":["null","string"],"default":null},{"name":"output_bytes","type":["null","long"],"default":null},{"name":"result_redacted","type":["null","string"],"doc":"The harness's own structured result, JSON text.","default":null},{"name":"result_hash","type":["null","string"],"default":null},{"name":"result_digest","type":["null","string"],"default":null},{"name":"result_bytes","type":["null","long"],"default":null},{"name":"request_id","type":["null","string"],"default":null},{"name":"attempt","type":["null","long"],"default":null},{"name":"mode","type":["null","string"],"default":null},{"name":"verdict","type":["null","string"],"doc":"What the gate was answered: PASS, FAIL, ERROR, PENDING, NO_TASK. A claim of the agent's host, not evidence.","default":null},{"name":"tests_hash","type":["null","string"],"default":null},{"name":"image_digest","type":["null","string"],"default":null},{"name":"diff_hash","type":["null","string"],"doc":"Plain SHA-256 of the diff sent to the oracle.","default":null},{"name":"oracle_host","type":["null","string"],"default":null},{"name":"signature","type":["null","string"],"default":null},{"name":"diff_redacted","type":["null","string"],"default":null},{"name":"diff_digest","type":["null","string"],"default":null},{"name":"diff_bytes","type":["null","long"],"default":null},{"name":"outcome","type":["null","string"],"default":null},{"name":"attempts","type":["null","long"],"default":null},{"name":"final_diff_hash","type":["null","string"],"default":null},{"name":"reason","type":["null","string"],"default":null},{"name":"ended_at","type":["null","string"],"default":null},{"name":"kind","type":["null","string"],"doc":"What a notice tells: rules_loaded, call_started, compaction, api_failure, ...","default":null},{"name":"count","type":["null","long"],"doc":"For notices that count: events lost, pieces joined.","default":null},{"name":"salt","type":["null","string"],"doc":"16 random bytes, hex; lies with the content and goes with it. Outside the header.","default":null},{"name":"withheld","type":["null","string"],"doc":"Why the content is not here: quarantined or erased. Outside the header.","default":null},{"name":"fork","type":["null","boolean"],"doc":"Set by redact: another event with this chain and seq was there first. Outside the header.","default":null},{"name":"redactions","type":{"type":"array","items":{"type":"record","name":"Redaction","fields":[{"name":"field","type":"string","doc":"text, input, output, result or diff."},{"name":"before","type":"string","doc":"Salted digest of the content before."},{"name":"after","type":"string","doc":"Salted digest of the content after."},{"name":"rule","type":"string"},{"name":"scanner","type":"string","doc":"Scanner and version."}]}},"doc":"Replacements made after capture. Outside the header.","default":[]}],"namespace":"flipstream"},
  Verdict: {"type":"record","name":"Verdict","doc":"One signed answer of the oracle. The signature is Ed25519 over the canonical JSON (RFC 8785) of all other fields, nulls left out.","fields":[{"name":"v","type":"int"},{"name":"verdict_id","type":"string"},{"name":"request_id","type":["null","string"],"default":null},{"name":"requester","type":["null","string"],"doc":"The token's principal.","default":null},{"name":"session_id","type":["null","string"],"doc":"Null in a baseline: it belongs to the task and is copied under each graded session's key.","default":null},{"name":"chain_id","type":["null","string"],"default":null},{"name":"head","type":["null","string"],"doc":"Header hash of the chain's last event when the grade was asked for.","default":null},{"name":"attempt","type":["null","long"],"doc":"Numbered by the oracle, from 1; 0 for a baseline.","default":null},{"name":"task_id","type":"string"},{"name":"task_family","type":["null","string"],"default":null},{"name":"task_split","type":["null","string"],"default":null},{"name":"mode","type":"string","doc":"baseline, grade, or regrade: a grade run again, which withdraws another."},{"name":"verdict","type":"string","doc":"PASS, FAIL or ERROR."},{"name":"base_commit","type":"string"},{"name":"tests_hash","type":"string"},{"name":"diff_hash","type":["null","string"],"default":null},{"name":"image","type":["null","string"],"default":null},{"name":"runner","type":"string","doc":"process, container or vm."},{"name":"placement","type":"string","doc":"same_host or separate_host."},{"name":"evidence","type":"string","doc":"in_process or out_of_process."},{"name":"oracle_host","type":"string"},{"name":"oracle_version","type":"string"},{"name":"released_at","type":"string"},{"name":"key_id","type":"string"},{"name":"oracle_seq","type":"long","doc":"Position in the key's own chain of verdicts."},{"name":"oracle_prev","type":["null","string"],"doc":"SHA-256 of the canonical signed verdict before it in the key's chain.","default":null},{"name":"cached_from","type":["null","string"],"default":null},{"name":"retracts","type":["null","string"],"doc":"Verdict id that this one withdraws, after a regrade.","default":null},{"name":"signature","type":"string","doc":"base64"}],"namespace":"flipstream"},
};
