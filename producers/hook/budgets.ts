import type { Moment } from '../adapters/adapter.ts';

/** How long the hook may take from its start, milliseconds: less than the harness waits (cli/init writes how long). */
export const BUDGET_MS = 8_000;

/**
 * The same at moments at which more is done than recording. Of a session's end Claude Code gives the hooks of plugins
 * 1.5 s together.
 */
export const BUDGETS_MS: Readonly<Record<Moment, number>> = { start: BUDGET_MS, stop: 560_000, end: 1_200 };

/** Milliseconds without a byte of a payload after which what came is taken for all of it. */
export const IDLE_MS = 3_000;
