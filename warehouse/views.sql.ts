/** The readable views over the tables: what people ask first, with names they would guess. */
import { CAPABILITIES, HARNESS_CAPABILITIES, IMPORTED_HARNESSES } from '../schemas/harness-capabilities.ts';

export interface View {
  name: string;
  /** One sentence for a person choosing; also the view's comment in SQL. */
  about: string;
  sql: string;
}

/** A call started and given up is concluded `interrupted`; when its real end comes after all, that one counts. */
const CALLS_ONCE = `
  SELECT * FROM events WHERE type = 'tool_call'
  QUALIFY row_number() OVER (
    PARTITION BY session_id, coalesce(agent_id, ''), coalesce(tool_use_id, event_id)
    ORDER BY coalesce(synthetic, false), ts DESC, event_id) = 1`;

/** Rows of single sessions say it; what counts over sessions leaves them out. */
const IMPORTED = `coalesce(capture = 'imported', false)`;

const quoted = (value: string | null | undefined) =>
  value === null || value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`;

const LIVE = HARNESS_CAPABILITIES.flatMap(({ harness, tested, gives, notes }) =>
  CAPABILITIES.map((name) => [harness, name, gives[name], notes[name], tested]),
);
const UNKNOWN = IMPORTED_HARNESSES.flatMap((harness) =>
  CAPABILITIES.map((name) => [harness, name, null, 'what the imported file holds', null]),
);
const valuesOf = (rows: readonly (readonly (string | null | undefined)[])[], imported: boolean) =>
  rows.map((row) => `(${row.map(quoted).join(', ')}, ${imported})`);
const TOLD = [...valuesOf(LIVE, false), ...valuesOf(UNKNOWN, true)].join(',\n        ');

export const VIEWS: readonly View[] = [
  {
    name: 'tool_calls',
    about:
      "Each session's tool calls in order, imported ones marked; a real result wins over one concluded as interrupted.",
    sql: `
      SELECT session_id, row_number() OVER (PARTITION BY session_id ORDER BY ts, chain_id, seq) AS n,
        ts, turn, agent_id, tool_name, tool_kind, status, exit_code, duration_ms,
        input_redacted AS input, output_redacted AS output, result_redacted AS result, tool_use_id, event_id,
        ${IMPORTED} AS imported
      FROM (${CALLS_ONCE})
      ORDER BY session_id, n`,
  },
  {
    name: 'conversation',
    about:
      'What was said and done in each session, in order: prompts, answers, and calls with their results.',
    sql: `
      SELECT session_id, row_number() OVER (PARTITION BY session_id ORDER BY ts, chain_id, seq) AS n,
        ts, turn, agent_id, CASE type WHEN 'message' THEN role ELSE 'tool' END AS who,
        tool_name, status, CASE type WHEN 'message' THEN text_redacted ELSE input_redacted END AS content,
        coalesce(output_redacted, CASE WHEN status <> 'ok' THEN result_redacted END) AS answer, event_id,
        ${IMPORTED} AS imported
      FROM (SELECT * FROM events WHERE type = 'message' UNION ALL (${CALLS_ONCE}))
      ORDER BY session_id, n`,
  },
  {
    name: 'task_flip_rates',
    about:
      'Tasks by flip rate: of the sessions that the oracle graded and no mark forbids, how many ended in PASS.',
    sql: `
      SELECT task_id, any_value(task_family) AS family, count(*) AS sessions,
        count(*) FILTER (attempts > 0) AS graded,
        count(*) FILTER (outcome = 'flipped') AS flipped,
        round(count(*) FILTER (outcome = 'flipped') / nullif(count(*) FILTER (attempts > 0), 0), 4) AS flip_rate,
        round(avg(attempts) FILTER (outcome = 'flipped'), 2) AS attempts_to_flip,
        sum(oracle_errors)::BIGINT AS oracle_errors
      FROM sessions WHERE task_id IS NOT NULL AND usable
      GROUP BY task_id
      ORDER BY flip_rate DESC NULLS LAST, graded DESC, task_id`,
  },
  {
    name: 'failures',
    about:
      'What failed most in our own sessions, not in imported ones: tools and how their calls ended, with the share of all calls of that tool.',
    sql: `
      SELECT tool_name, status, exit_code, count(*) AS calls, count(DISTINCT session_id) AS sessions,
        round(count(*) / any_value(of_tool), 4) AS share, max(ts) AS last_seen
      FROM (SELECT *, count(*) OVER (PARTITION BY tool_name) AS of_tool FROM (${CALLS_ONCE})
        WHERE NOT ${IMPORTED})
      WHERE status <> 'ok'
      GROUP BY tool_name, status, exit_code
      ORDER BY calls DESC, tool_name, status, exit_code`,
  },
  {
    name: 'metrics',
    about:
      'Oracle share, flip rate, attempts and errors by day, repository, harness, model and task family; never by person.',
    sql: `
      SELECT day, repo, harness, model, task_family, sessions, with_task, graded, flipped, no_flip,
        round(flipped / nullif(graded, 0), 4) AS flip_rate,
        round(attempts / nullif(graded, 0), 2) AS attempts_per_session,
        round(with_task / nullif(sessions, 0), 4) AS oracle_share,
        round(graded / nullif(sessions, 0), 4) AS graded_share,
        oracle_errors, withheld, gaps
      FROM flip_metrics
      WHERE sessions > 0
      ORDER BY day DESC, sessions DESC`,
  },
  {
    name: 'notices',
    about: 'Everything else a harness told: rule files, compactions, failures, subagents, permissions, gaps.',
    sql: `
      SELECT session_id, ts, turn, kind, reason, count, agent_id, agent_type, text_redacted AS text, event_id,
        ${IMPORTED} AS imported
      FROM events WHERE type = 'notice'
      ORDER BY session_id, ts, chain_id, seq`,
  },
  {
    name: 'grades',
    about: "Each session's signed verdicts in order; the baselines that stand beside them are in verdicts.",
    sql: `
      SELECT session_id, attempt, task_id, verdict, released_at, runner, placement, evidence, verdict_id, retracts
      FROM verdicts WHERE mode = 'grade'
      ORDER BY session_id, attempt`,
  },
  {
    name: 'harness_capabilities',
    about:
      'What each harness’s hooks tell (yes, partly, no; null of imported sessions): join it on harness and imported to tell what did not happen from what nobody said.',
    sql: `
      SELECT * FROM (VALUES
        ${TOLD}
      ) AS told(harness, capability, given, note, tested, imported)`,
  },
];
