import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { expect } from 'vitest';
import { sha256 } from '../schemas/hash.ts';
import { type CaptureContext, capture } from './capture.ts';
import { assembleAll, T0 } from './collector/testing.ts';

const context = (registration: string, transport: CaptureContext['transport']): CaptureContext => ({
  ...{ hash: (data) => sha256(data), limit: 65_536, clock: () => T0, registration, transport },
  ...{ openKeys: { isOpen: () => false, set: () => {} }, readRules: () => null, silenced: () => false },
});
const hashOf = (payload: string) => capture(payload, context('settings', 'command'))?.payload_hash;

const payload = fc.oneof(
  fc
    .record({ session_id: fc.string(), hook_event_name: fc.constantFrom('UserPromptSubmit', 'Stop', 'New') })
    .chain((base) => fc.string({ unit: 'grapheme' }).map((prompt) => JSON.stringify({ ...base, prompt }))),
  fc.string({ unit: 'grapheme' }), // no payload at all, or half of one
);
const white = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 20 });

test.prop([payload, white])(
  'C4 white space after a payload gives it no other identity: the one that it has had as a line',
  (text, end) => {
    expect(hashOf(text + end)).toBe(sha256(`${text.replace(/[ \t\r\n]+$/, '')}\n`));
  },
);

test('C4 a command and HTTP tell one event, and a second prompt of the same words is a second one', () => {
  const prompt = (words: string) =>
    JSON.stringify({ session_id: 's', cwd: '/', hook_event_name: 'UserPromptSubmit', prompt: words });
  const heard = ['again', 'again', 'else'].flatMap((words) => [
    capture(`${prompt(words)}\n`, context('plugin', 'command')) ?? [],
    capture(prompt(words), context('http', 'http')) ?? [],
  ]);
  const { events } = assembleAll(heard.flat());
  expect(events.map(({ turn, content }) => [turn, content.text?.text])).toEqual([
    [1, 'again'],
    [2, 'again'],
    [3, 'else'],
  ]);
});
