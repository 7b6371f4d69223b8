import { expect, test } from 'vitest';
import { decoder, encode } from './codec.ts';
import { SCHEMAS } from './generated.ts';

const RECORD = { event_id: '', session_id: '', ts: '', type: '', reason: '', scanner: '', content: null };
/** Five empty strings, then an array that claims four thousand million items. */
const BOMB = Buffer.from([0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0x1f]);

test('P2 a few bytes that claim a huge array are poison at once, whoever wrote them', () => {
  const { fields, ...rest } = SCHEMAS.Quarantined as { fields: { name: string }[] };
  const older = JSON.stringify({ ...rest, fields: fields.filter(({ name }) => name !== 'content') });
  for (const decode of [decoder('Quarantined'), decoder('Quarantined', older)]) {
    expect(() => decode(BOMB)).toThrow(expect.objectContaining({ code: 'undecodable' }));
  }
});

test('arrays come back as they were, and from blocks that carry their size', () => {
  const decode = decoder('Quarantined');
  for (const rules of [[], ['a'], Array.from({ length: 300 }, (_, n) => `rule ${n}`)]) {
    expect(decode(encode('Quarantined', { ...RECORD, rules })).rules).toEqual(rules);
  }
  const sized = Buffer.from([0, 0, 0, 0, 0, 3, 8, 2, 0x61, 2, 0x62, 0, 0, 0]);
  expect(decode(sized).rules).toEqual(['a', 'b']);
});
