/** What a command prints: results to stdout, everything else to stderr. */
import type { Writable } from 'node:stream';

export interface Output {
  readonly json: boolean;
  /** Whether a person watches stderr. */
  readonly interactive: boolean;
  /** The command's result: one JSON document with --json, else the text. */
  result(value: unknown, text: () => string): void;
  /** One of many results (`--follow`): a JSON line, or a line of text. */
  item(value: unknown, text: () => string): void;
  /** A remark for the person, to stderr; nothing with --json. */
  note(text: string): void;
  /** Raw bytes of a result whose format the person chose. */
  raw(text: string): void;
  /** An error, to stderr. */
  error(code: string, message: string, stack?: string): void;
}

export interface Streams {
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
}

export function createOutput(streams: Streams, json: boolean): Output {
  const line = (to: Writable, text: string) => void to.write(text.endsWith('\n') ? text : `${text}\n`);
  return {
    json,
    interactive: streams.stderr.isTTY === true,
    result: (value, text) => line(streams.stdout, json ? stringify(value, 2) : text()),
    item: (value, text) => line(streams.stdout, json ? stringify(value) : text()),
    note: (text) => {
      if (!json) line(streams.stderr, text);
    },
    raw: (text) => void streams.stdout.write(text),
    error: (code, message, stack) => {
      line(streams.stderr, json ? stringify({ error: { code, message } }) : message);
      if (stack) line(streams.stderr, stack);
    },
  };
}

/** JSON text of a result; 64-bit integers of SQL become numbers where exact, else strings. */
export function stringify(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_, field: unknown) => (typeof field === 'bigint' ? exact(field) : field),
    indent,
  );
}

function exact(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
