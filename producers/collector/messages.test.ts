import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { assembleAll, content, entry, gist, told } from './testing.ts';

const list = (...entries: Parameters<typeof assembleAll>[0][number][]) =>
  assembleAll(entries).events.map(gist);

test('pieces in any order, each heard by two registrations, are one message: always the same', () => {
  const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { minLength: 1, maxLength: 7 });
  const plan = texts.chain((pieces) => {
    const all = pieces.flatMap((_, index) => [`settings ${index}`, `plugin ${index}`]);
    return fc.tuple(fc.constant(pieces), fc.shuffledSubarray(all, { minLength: all.length }));
  });
  fc.assert(
    fc.property(plan, ([pieces, order]) => {
      const entries = order.map((one) => {
        const [registration = '', number = ''] = one.split(' ');
        const index = Number(number);
        const final = index === pieces.length - 1;
        const text = pieces[index]?.toWellFormed() ?? '';
        return { ...entry(told.piece('m', index, text, final), { at: index }), registration };
      });
      const { events, state } = assembleAll(entries);
      const whole = pieces.map((text) => text.toWellFormed()).join('');
      expect(events).toHaveLength(1);
      expect(events[0]?.content.text).toEqual({ ...content(whole), cut: false });
      expect(events[0]?.fields).toMatchObject({ role: 'assistant', message_id: 'm' });
      expect(state.messages.size === 0 || events.length === 1).toBe(true);
    }),
  );
});

test('the last piece may be empty', () => {
  expect(list(entry(told.piece('m', 0, 'All.')), entry(told.piece('m', 1, '', true)))).toEqual([
    'message All.',
  ]);
});

test('the last message of a turn is told once, not twice', () => {
  const said = [entry(told.piece('m', 0, 'Done.', true)), entry(told.stop('Done.'))];
  expect(list(...said)).toEqual(['message Done.', 'notice stop']);
  expect(list(...said.toReversed())).toEqual(['message Done.', 'notice stop']);
  expect(list(entry(told.stop('Only here.')))).toEqual(['message Only here.', 'notice stop']);
});

test('the same words in another turn are another message', () => {
  const events = list(
    entry(told.piece('m', 0, 'Done.', true)),
    entry(told.stop('Done.')),
    entry(told.prompt('more')),
    entry(told.stop('Done.'), { payload: 'second' }),
  );
  expect(events.filter((one) => one === 'message Done.')).toHaveLength(2);
});

test('redacted differently in pieces and whole, their raw length tells that they are one', () => {
  const [piece] = told.piece('m', 0, 'key [REDACTED:a]', true);
  const [last, stop] = told.stop('key [REDACTED:b]');
  if (!piece || !last || !stop) throw new Error('no drafts');
  const redacted = (text: string) => ({ text: { text, bytes: 40, cut: false, hits: 1 } });
  const pieces = entry([{ ...piece, content: redacted('key [REDACTED:a]') }]);
  const whole = entry([{ ...last, content: redacted('key [REDACTED:b]') }, stop]);
  expect(list(pieces, whole)).toEqual(['message key [REDACTED:a]', 'notice stop']);
});

test('unredacted texts of equal length are two messages', () => {
  expect(list(entry(told.piece('m', 0, 'abc', true)), entry(told.stop('xyz')))).toEqual([
    'message abc',
    'message xyz',
    'notice stop',
  ]);
});

test('pieces that are lost before a Stop are made good from its last message', () => {
  const { events } = assembleAll([
    entry(told.piece('m', 0, 'One. ')),
    entry(told.piece('m', 2, ' Three.', true)),
    entry(told.stop('One. Two. Three.')),
    entry(told.piece('m', 1, 'Two.')),
  ]);
  expect(events.map(gist)).toEqual(['message One. Two. Three.', 'notice stop']);
  expect(events[0]?.fields.message_id).toBe('m');
});

test('an unfinished message is told at the next prompt, and its whole if that comes after all', () => {
  const events = list(
    entry(told.piece('m', 0, 'half')),
    entry(told.prompt('stop')),
    entry(told.piece('m', 0, 'half')),
    entry(told.piece('m', 1, ' and rest', true)),
  );
  expect(events).toEqual(['message half', 'message stop', 'message half and rest']);
});

test('a secret that lies across two pieces is redacted in the whole, which then has no hash', () => {
  const redact = (text: string) => ({
    text: text.replace('SECRET', '[R]'),
    hits: text.includes('SECRET') ? 1 : 0,
  });
  const pieces = [entry(told.piece('m', 0, 'a SEC')), entry(told.piece('m', 1, 'RET z', true))];
  const { events } = assembleAll(pieces, { redact });
  expect(events[0]?.content.text).toEqual({ text: 'a [R] z', bytes: 10, cut: false, hits: 1 });
  const clean = assembleAll(pieces).events[0]?.content.text;
  expect(clean?.hash).toBe(sha256('key a SECRET z'));
});

test('a message is cut at the limit, at a whole character', () => {
  const { events } = assembleAll([entry(told.piece('m', 0, 'äöü€', true))], { limit: 8 });
  expect(events[0]?.content.text).toMatchObject({ text: 'äöü', cut: true, bytes: 9 });
});
