import fc from 'fast-check';
import { CLAUDE_CODE_EVENTS } from '../adapters/claude-code.ts';

/** Payloads as no harness should send them: for tests that whatever comes in, nothing goes wrong (pains C9). */

const NASTY = [
  '\u0000',
  '\ud800',
  '\udfff',
  '\u2028',
  '-----BEGIN RSA PRIVATE KEY-----',
  '[REDACTED:',
  'token=',
  '__proto__',
  '{',
  '"',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(...NASTY),
  fc.constantFrom(...NASTY).map((part) => part.repeat(300)),
);
const scalar = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
const anything = fc.oneof(
  scalar,
  fc.jsonValue({ maxDepth: 4 }),
  fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'password')), scalar, {
    maxKeys: 5,
  }),
);
const NAMES = [
  ...[
    'session_id',
    'cwd',
    'agent_id',
    'tool_name',
    'tool_input',
    'tool_response',
    'tool_use_id',
    'error',
    'delta',
  ],
  ...[
    'message_id',
    'index',
    'final',
    'prompt',
    'last_assistant_message',
    'background_tasks',
    'tool_calls',
    'source',
  ],
  ...[
    'file_path',
    'reason',
    'duration_ms',
    'is_interrupt',
    'timestamp',
    'turn_id',
    'model',
    'conversation_id',
  ],
  ...['__proto__', 'toString', 'hasOwnProperty'],
];
const event = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...CLAUDE_CODE_EVENTS) },
  { weight: 1, arbitrary: text },
);
const object = fc
  .tuple(event, fc.dictionary(fc.constantFrom(...NAMES), anything, { maxKeys: 10 }))
  .map(([name, fields]) => JSON.stringify({ session_id: 's', ...fields, hook_event_name: name }));
const mangled = fc.tuple(object, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([whole, at, bytes]) => {
  const cut = Buffer.from(whole).subarray(0, at % (whole.length + 1));
  return Buffer.concat([cut, bytes]);
});

/** @returns an arbitrary of what may come in on standard input */
export function payloads(): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 6, arbitrary: object.map((whole) => Buffer.from(whole)) },
    { weight: 2, arbitrary: mangled },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.json().map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: fc.nat({ max: 3000 }).map((depth) => Buffer.from('{"a":'.repeat(depth))) },
    {
      weight: 1,
      arbitrary: fc
        .nat({ max: 3000 })
        .map((depth) =>
          Buffer.from(
            `{"hook_event_name":"Stop","session_id":"s","x":${'['.repeat(depth)}${']'.repeat(depth)}}`,
          ),
        ),
    },
  );
}
