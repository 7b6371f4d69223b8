import type { z } from 'zod';
import { messageOf } from './errors.ts';
import { parseJson } from './parse-json.ts';

export type ReadAs<T> =
  | { ok: true; data: T }
  /** `problem`: one clause for each thing that is wrong, with the field's name and what to put there. */
  | { ok: false; problem: string; cause: unknown };

/** Reads a value that a person wrote; what is wrong with it comes back in words for that person. */
export function readAs<S extends z.ZodType>(schema: S, value: unknown): ReadAs<z.output<S>> {
  const parsed = schema.safeParse(value, { error: inPlainWords });
  return parsed.success
    ? { ok: true, data: parsed.data }
    : { ok: false, problem: problemsOf(parsed.error), cause: parsed.error };
}

/** The same for JSON that `text` brings from somewhere: what it throws is a problem too. */
export function readJsonAs<S extends z.ZodType>(schema: S, text: () => string): ReadAs<z.output<S>> {
  let value: unknown;
  try {
    value = parseJson(text());
  } catch (cause) {
    return { ok: false, problem: messageOf(cause), cause };
  }
  return readAs(schema, value);
}

function problemsOf(error: z.ZodError): string {
  return [...new Set(error.issues.flatMap(clausesOf))].join('; ');
}

function clausesOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) => `${nameOf([...issue.path, key])} is no field: correct its name or remove it`,
    );
  return [issue.path.length > 0 ? `${nameOf(issue.path)} ${issue.message}` : `it ${issue.message}`];
}

function nameOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}

/** For `safeParse`: a schema's own message goes before it. Each goes on from the field's name. */
export const inPlainWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing: it must be ${kindOf(issue.expected)}`
        : `must be ${kindOf(issue.expected)}`;
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return `must ${issue.inclusive === false ? 'be below' : 'not be above'} ${issue.maximum}${unit(issue.origin)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_format':
      return issue.format === 'url'
        ? 'must be a URL'
        : `must be of the form ${issue.pattern ?? issue.format}`;
    case 'invalid_union':
      return 'has none of the forms that are allowed';
    default:
      return undefined; // zod's own words
  }
};

function tooSmall({ origin, minimum, inclusive }: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  if (minimum === 1 && origin === 'string') return 'must not be empty';
  if (minimum === 1 && origin === 'array') return 'must not be an empty list';
  return `must be ${inclusive === false ? 'above' : 'at least'} ${minimum}${unit(origin)}`;
}

function unit(origin: string): string {
  if (origin === 'string') return ' letters long';
  return origin === 'array' ? ' entries long' : '';
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object with fields',
  record: 'an object with fields',
  null: 'null',
};

const kindOf = (expected: string) => KINDS[expected] ?? expected;
