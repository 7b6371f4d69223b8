import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { canonical } from './canonical.ts';
import { decoder, encode } from './codec.ts';
import { contentState } from './content.ts';
import { saltedDigest } from './hash.ts';
import { headerHash } from './header.ts';
import { eventId } from './identity.ts';
import { anyEvent, blankEvent } from './testing.ts';

const decode = decoder('TraceEvent');

describe('an event', () => {
  test.prop([anyEvent])('keeps its canonical form and header hash through Avro', (event) => {
    const back = decode(encode('TraceEvent', event));
    expect(canonical(back)).toBe(canonical(event));
    expect(headerHash(back)).toBe(headerHash(event));
  });

  test.prop([anyEvent])('keeps its header hash through canonical JSON', (event) => {
    expect(headerHash(JSON.parse(canonical(event)))).toBe(headerHash(event));
  });

  test.prop([anyEvent, fc.string()])(
    'has a header that content cannot change and everything else does',
    (event, text) => {
      expect(
        headerHash({ ...event, text_redacted: text, salt: null, withheld: 'erased', redactions: [] }),
      ).toBe(headerHash(event));
      expect(headerHash({ ...event, seq: event.seq + 1 })).not.toBe(headerHash(event));
      expect(headerHash({ ...event, text_digest: `${event.text_digest}0` })).not.toBe(headerHash(event));
    },
  );

  test('is unchanged by a field added later as null', () => {
    expect(headerHash({ ...blankEvent(), ...{ added_later: null } })).toBe(headerHash(blankEvent()));
  });
});

describe('content', () => {
  const salt = '00'.repeat(16);
  const stored = {
    ...blankEvent(),
    salt,
    text_redacted: 'secret',
    text_digest: saltedDigest(salt, 'secret'),
  };
  const redaction = {
    field: 'text',
    before: saltedDigest(salt, 'secret'),
    after: saltedDigest(salt, '[REDACTED:x]'),
    rule: 'x',
    scanner: 's',
  };

  test.prop([anyEvent])('is intact as captured', (event) => {
    expect(contentState(event)).toBe('intact');
  });

  test('tells intact, redacted later, withheld and altered apart', () => {
    expect(contentState(stored)).toBe('intact');
    expect(contentState({ ...stored, text_redacted: '[REDACTED:x]', redactions: [redaction] })).toBe(
      'redacted',
    );
    expect(contentState({ ...stored, text_redacted: null, salt: null, withheld: 'quarantined' })).toBe(
      'withheld',
    );
    expect(contentState({ ...stored, text_redacted: null })).toBe('altered');
    expect(contentState({ ...stored, text_redacted: 'another' })).toBe('altered');
    expect(contentState({ ...stored, output_redacted: 'planted' })).toBe('altered');
    expect(
      contentState({ ...stored, text_redacted: 'x', redactions: [{ ...redaction, before: 'no' }] }),
    ).toBe('altered');
  });
});

describe('identity', () => {
  const one = { harness: 'claude-code', session_id: 's', agent_id: null, kind: 'PostToolUse' };

  test('tells the same command run twice from the same event heard twice', () => {
    const settings = eventId({ ...one, payload_hash: 'h', ordinal: 0 });
    const plugin = eventId({ ...one, payload_hash: 'h', ordinal: 0 });
    expect(plugin).toBe(settings);
    expect(eventId({ ...one, payload_hash: 'h', ordinal: 1 })).not.toBe(settings);
  });

  test('tells the phases of one tool call apart, and a subagent from its parent', () => {
    const ended = eventId({ ...one, own_id: 'toolu_1', phase: 'ended' });
    expect(eventId({ ...one, own_id: 'toolu_1', phase: 'started' })).not.toBe(ended);
    expect(eventId({ ...one, agent_id: 'a', own_id: 'toolu_1', phase: 'ended' })).not.toBe(ended);
  });
});
