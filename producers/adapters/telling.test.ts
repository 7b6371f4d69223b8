import { expect, test } from 'vitest';
import { asJson, asText } from './adapter.ts';
import { callEnded, shownOf } from './telling.ts';

test('a result that is text stays text, any other is JSON; what is not told is not there', () => {
  const { content } = callEnded({
    id: 'c',
    name: 'shell',
    status: 'ok',
    output: 'a\nb',
    result: { code: 0 },
  });
  expect(content).toEqual({ output: asText('a\nb'), result: asJson({ code: 0 }) });
  expect(callEnded({ id: 'c', name: 'shell', status: null })).toMatchObject({
    ...{ role: 'call_ended', own_id: 'c', phase: 'ended', content: {} },
    fields: { tool_name: 'shell', status: null },
  });
});

test('the text of parts is put together where all of them are text', () => {
  expect(shownOf(['a', { type: 'text', text: 'b' }])).toBe('ab');
  const image = [{ type: 'text', text: 'a' }, { type: 'image' }];
  expect(shownOf(image)).toBe(image);
});
