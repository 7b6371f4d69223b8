import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { isOurs } from '../../producers/our-hook.ts';
import { hooksOf, type Registration } from './registration.ts';
import { addHooks, removeHooks } from './settings.ts';

const HOOK = '/home/x/.local/state/flipstream/hook/hook.cjs';
const command: Registration = { transport: 'command', node: '/n/node', hook: HOOK };
const http: Registration = { ...command, transport: 'http', url: 'http://127.0.0.1:4/hook', token: 't' };
const marks = { hook: HOOK, url: null };
const add = (text: string | null) => addHooks(text, hooksOf(command, 'settings'), marks);
const undo = (text: string, change: ReturnType<typeof add>) =>
  removeHooks(text, { ...change.receipt, file: 'f' }, (handler) => isOurs(handler, change.receipt));

const OTHERS = `{
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "say done" } ] }
        ],
        "SubagentStart": [],
        "PreToolUse": [ {"matcher":"Bash","hooks":[{"type":"command","command":"lint"}]} ]
    },
    "env": {"A":"1"}
}
`;

const text = fc.oneof(
  fc.constantFrom(
    '{}',
    '{}\n',
    '{ }',
    '{\n}\n',
    '{"hooks":{}}',
    '{"hooks": {\n  }\n}',
    '\ufeff{"a":1}',
    '{\r\n\t"a": {"b":[1,{}]}\r\n}\r\n',
    OTHERS,
  ),
  fc
    .tuple(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4, noNullPrototype: true }),
      fc.dictionary(
        fc.constantFrom('Stop', 'PreToolUse', 'Mine', 'SessionEnd'),
        fc.array(
          fc.record({
            matcher: fc.string(),
            hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })),
          }),
        ),
        { noNullPrototype: true },
      ),
      fc.constantFrom(0, 1, 2, 3, 4, '\t'),
      fc.boolean(),
    )
    .map(([rest, hooks, indent, with_]) =>
      JSON.stringify(with_ ? { ...rest, hooks, last: 1 } : { ...rest, hooks: undefined }, null, indent),
    ),
);

const strip = (json: string) => json.replace(/^\ufeff/, '');

describe('the settings file of a harness', () => {
  test.prop([text])('comes back byte for byte when what was put in is taken out', (before) => {
    const change = add(before);
    expect(undo(change.text, change)).toBe(before);
  });

  test.prop([text])(
    'keeps everything of other people, in order, and gets one handler of ours an event',
    (before) => {
      const was = JSON.parse(strip(before));
      const is = JSON.parse(strip(add(before).text));
      for (const [event, groups] of Object.entries(hooksOf(command, 'settings')))
        expect(is.hooks[event]).toEqual([...(was.hooks?.[event] ?? []), ...groups]);
      expect(Object.keys(is)).toEqual(
        was.hooks === undefined ? [...Object.keys(was), 'hooks'] : Object.keys(was),
      );
      for (const key of Object.keys(was)) if (key !== 'hooks') expect(is[key]).toEqual(was[key]);
      for (const event of Object.keys(was.hooks ?? {}))
        expect(is.hooks[event].slice(0, was.hooks[event].length)).toEqual(was.hooks[event]);
    },
  );

  test.prop([text, fc.constantFrom('before', 'after', 'reformatted')], { numRuns: 40 })(
    'that was changed since loses our handlers and nothing else',
    (before, where) => {
      const change = add(before);
      const changed = JSON.parse(strip(change.text));
      const theirs = { hooks: [{ type: 'command', command: 'theirs' }] };
      if (where === 'before') changed.hooks.Notification.unshift(theirs);
      if (where === 'after') changed.hooks.Notification.push(theirs);
      const after = JSON.parse(
        strip(undo(JSON.stringify(changed, null, where === 'reformatted' ? 1 : 2), change) ?? '{}'),
      );
      const expected = JSON.parse(strip(before));
      if (where !== 'reformatted')
        expected.hooks = {
          ...expected.hooks,
          Notification: [...(expected.hooks?.Notification ?? []), theirs],
        };
      expect(after).toEqual(expected);
    },
  );

  test('that was not there is removed again', () => {
    const change = add(null);
    expect(JSON.parse(change.text).hooks.Stop[0].hooks[0]).toEqual({
      type: 'command',
      command: `/n/node --v8-pool-size=0 ${HOOK} --registration settings`,
      timeout: 600,
    });
    expect(undo(change.text, change)).toBe(null);
  });

  test('keeps its own indentation', () => {
    expect(add(OTHERS).text).toContain(
      '\n        "Notification": [\n            {\n                "hooks": [',
    );
    expect(add(OTHERS).text.startsWith(OTHERS.slice(0, 90))).toBe(true);
  });

  test('keeps comments, also of lines that our hooks stood between, and takes a comma too many', () => {
    const before =
      '{\n  // mine\n  "hooks": { // all\n    "Stop": [ // none\n    ],\n    /* last */\n  },\n}\n';
    const change = add(before);
    expect(undo(change.text, change)).toBe(before);
    const touched = undo(change.text.replace('// mine', '// ours'), change) ?? '';
    expect(touched.replaceAll(/\s/g, '')).toBe(before.replace('// mine', '// ours').replaceAll(/\s/g, ''));
  });

  test('"hooks" written twice is refused: nobody knows which one counts', () => {
    expect(() => add('{"hooks":{},"hooks":{}}')).toThrow('"hooks" is there twice');
  });

  test.each(['{', '[]', '"x"', '', '{"hooks": []}', '{"hooks": {"Stop": {}}}'])(
    'that is broken is refused in one sentence: %s',
    (bad) => {
      expect(() => add(bad)).toThrow(/^The settings file was left as it is: .*\.$/s);
    },
  );

  test('over HTTP, keeps what starts the collector and what decides as commands', () => {
    const kinds = Object.entries(hooksOf(http, 'settings')).map(([event, groups]) => [
      event,
      groups[0]?.hooks[0]?.type,
    ]);
    expect(kinds.filter(([, type]) => type === 'command').map(([event]) => event)).toEqual([
      'SessionStart',
      'Stop',
      'SessionEnd',
    ]);
    const change = addHooks(OTHERS, hooksOf(http, 'settings'), {
      hook: HOOK,
      url: 'http://127.0.0.1:4/hook',
    });
    const reformatted = JSON.stringify(JSON.parse(change.text));
    expect(JSON.parse(undo(reformatted, change) ?? '')).toEqual(JSON.parse(OTHERS));
  });
});
