/** Imports into a temporary home with a log that remembers. For tests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { type MemoryLog, memoryLog } from '../collector/testing.ts';
import { type Home, layout } from '../home.ts';
import type { Counts, Report } from './counts.ts';
import { importPaths } from './import.ts';

const NOW = Date.parse('2026-11-29T12:00:00.000Z');

export interface Bench {
  home: Home;
  /** Where files to import lie. */
  folder: string;
  log: MemoryLog;
  /** Writes a file below the folder. @returns its path */
  file(name: string, content: string | Buffer): string;
  /** Default: the whole folder. Asserts that the closing table adds up. */
  run(...paths: string[]): Promise<Report>;
  remove(): void;
}

export function importBench(): Bench {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-import-'));
  const folder = join(root, 'files');
  mkdirSync(folder);
  const home = layout(join(root, 'home'));
  const log = memoryLog();
  return {
    home,
    folder,
    log,
    file(name, content) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    async run(...paths) {
      const report = await importPaths({
        paths: paths.length > 0 ? paths : [folder],
        ...{ home, log, clock: () => NOW, limit: 1024 * 1024, warn: () => {} },
      });
      for (const [format, counts] of Object.entries(report.formats))
        expect(becameOf(counts), `${format}: every record read is counted once more`).toBe(counts.read);
      return report;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function becameOf({ mapped, notices, repeated, already, captured, refused }: Counts): number {
  return mapped + notices + repeated + already + captured + refused;
}

/** Lines as a file of them. */
export function jsonl(rows: readonly unknown[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** A short Claude Code transcript. */
export function transcript(session = 's1', more: readonly object[] = []): object[] {
  const row = (uuid: string, parent: string | null, at: number, rest: object) => ({
    ...{
      uuid: `${uuid}`,
      parentUuid: parent,
      sessionId: session,
      isSidechain: false,
      version: '2.1.332',
      cwd: '/w',
    },
    timestamp: new Date(NOW - 60_000 + at * 1000).toISOString(),
    ...rest,
  });
  const used = { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'false' } };
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'Exit code 1\nno', is_error: true };
  return [
    row('u1', null, 0, { type: 'user', message: { role: 'user', content: 'do it' } }),
    row('u2', 'u1', 1, {
      type: 'assistant',
      message: { id: 'm1', role: 'assistant', model: 'x', content: [{ type: 'text', text: 'I will' }] },
    }),
    row('u3', 'u2', 2, {
      type: 'assistant',
      message: { id: 'm1', role: 'assistant', model: 'x', content: [used] },
    }),
    row('u4', 'u3', 3, {
      type: 'user',
      message: { role: 'user', content: [result] },
      toolUseResult: 'Error: Exit code 1\nno',
    }),
    ...more,
  ];
}

/** What was told to a bench's log, in order, without beginnings and ends. */
export function toldTo({ log }: Bench): string[] {
  return log.events
    .filter(({ type }) => !type.startsWith('session_'))
    .map(({ type, kind, role, text_redacted: text, tool_name: tool, status, exit_code: exit }) => {
      if (type === 'tool_call') return [tool, status, exit].filter((one) => one !== null).join(' ');
      return type === 'message' ? `${role} ${text}` : `(${kind})`;
    });
}

/** Imports a file twice, asserts that nothing is refused and that the second time brings nothing. @returns what was told */
export async function importTwice(bench: Bench, name: string, content: string | Buffer): Promise<string[]> {
  bench.file(name, content);
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  const before = bench.log.events.length;
  const again = await bench.run();
  expect(again.reasons).toEqual({});
  expect(bench.log.events.length, 'twice gives nothing new').toBe(before);
  return toldTo(bench);
}
