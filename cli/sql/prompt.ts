/** `flipstream sql` without a query: a prompt with history, statements over several lines until `;`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { messageOf } from '../../schemas/errors.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Io } from '../command.ts';
import { FORMATS, type Format, format, type Query } from './result.ts';

const PROMPT = 'flipstream> ';
const MORE = '        ..> ';
const HISTORY = 1000;
const HELP = `End a statement with ; and Enter.
.tables        what there is to ask
.schema <name> its columns
.format <f>    table, json, jsonl or csv
.quit          leave (Ctrl-D)
`;

/**
 * Runs until .quit, Ctrl-D or the end of the input. An error in a statement is told, and the prompt goes on.
 * From a pipe it reads the same, without prompts.
 * @returns how many statements failed.
 */
export async function runPrompt(io: Io, query: Query, historyFile: string, initial: Format): Promise<number> {
  const terminal = io.stdin.isTTY === true;
  const readline = createInterface({
    input: io.stdin,
    output: terminal ? io.stdout : undefined,
    terminal,
    history: terminal ? readHistory(historyFile) : [],
    historySize: HISTORY,
  });
  const state = { as: initial, open: '', ended: false, failed: 0 };
  const prompt = () => {
    if (!terminal || state.ended) return;
    readline.setPrompt(state.open === '' ? PROMPT : MORE);
    readline.prompt();
  };
  const run = async (statement: string) => io.stdout.write(await answer(statement, state, query));
  readline.on('close', () => {
    state.ended = true;
  });
  readline.on('history', (entries) => writeHistory(historyFile, entries));
  readline.on('SIGINT', () => {
    state.open = '';
    io.stdout.write('\n');
    prompt();
  });
  prompt();
  for await (const line of readline) {
    if (state.open === '' && line.trim().startsWith('.')) {
      const said = await dot(line.trim(), state, query);
      if (said === null) break;
      io.stdout.write(said);
    } else {
      const { statements, rest } = splitStatements(state.open + line);
      state.open = rest.trim() === '' ? '' : `${rest}\n`;
      for (const statement of statements) await run(statement);
    }
    prompt();
  }
  if (state.open !== '' && !terminal) await run(state.open.trim());
  readline.close();
  return state.failed;
}

interface State {
  as: Format;
  failed: number;
}

async function answer(statement: string, state: State, query: Query): Promise<string> {
  try {
    return format(await query(statement), state.as);
  } catch (error) {
    state.failed += 1;
    return `${messageOf(error)}\n`;
  }
}

/** @returns what to print, or null to leave. */
async function dot(line: string, state: State, query: Query): Promise<string | null> {
  const [command, argument = ''] = line.split(/\s+/);
  switch (command) {
    case '.quit':
    case '.exit':
      return null;
    case '.tables':
      return answer(
        "select table_name as name from information_schema.tables where table_schema = 'main' order by 1",
        state,
        query,
      );
    case '.schema':
      return answer(
        `select column_name as name, data_type as type from information_schema.columns where table_name = '${argument.replaceAll("'", "''")}'`,
        state,
        query,
      );
    case '.format':
      if (!isFormat(argument)) return `.format ${FORMATS.join(', ')}\n`;
      state.as = argument;
      return '';
    default:
      return HELP;
  }
}

function isFormat(text: string): text is Format {
  return FORMATS.some((known) => known === text);
}

/** Cuts text at the semicolons that are outside of quotes and comments. */
export function splitStatements(text: string): { statements: string[]; rest: string } {
  const statements: string[] = [];
  const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|;|['"]|\/\*/g;
  let start = 0;
  for (const match of text.matchAll(token)) {
    // An opening quote or comment without its end: the statement goes on in the next line.
    if (match[0] === "'" || match[0] === '"' || match[0] === '/*') break;
    if (match[0] !== ';') continue;
    const statement = text.slice(start, match.index).trim();
    if (statement !== '') statements.push(statement);
    start = match.index + 1;
  }
  return { statements, rest: text.slice(start) };
}

/** Newest first, as readline wants it. */
function readHistory(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .toReversed();
}

function writeHistory(file: string, entries: readonly string[]): void {
  makeFolder(dirname(file));
  writeFileSync(file, `${entries.toReversed().join('\n')}\n`, { mode: 0o600 });
}
