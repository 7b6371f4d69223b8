import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONTENT_FIELDS, type ContentField, contentOf } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { IN_CONTEXT, TOKENS } from '../testing/secrets.ts';
import { BATCH } from './batches.ts';
import { pass } from './redact.ts';
import { prepare } from './scan.ts';

const SALT = '00'.repeat(16);

function eventWith(content: Partial<Record<ContentField, string>>): TraceEvent {
  const event: TraceEvent = {
    ...blankEvent(),
    session_id: 's',
    event_id: 'e',
    type: 'tool_call',
    salt: SALT,
  };
  for (const field of CONTENT_FIELDS) event[`${field}_redacted`] = content[field] ?? null;
  return event;
}

async function scan(...events: TraceEvent[]): Promise<TraceEvent[]> {
  const scanned = await prepare(events.map((value) => ({ value })));
  return events.map((event, index) => {
    const found = scanned[index];
    const [out] = found ? pass(event, found) : [];
    if (out?.topic !== 'trace.events') throw new Error('no event');
    return out.value;
  });
}

const one = async (content: Partial<Record<ContentField, string>>) =>
  (await scan(eventWith(content)))[0] ?? blankEvent();

const CONTEXTS: Record<string, (secret: string) => string> = {
  'by itself': (secret) => secret,
  'in a line of text': (secret) => `export KEY=${secret}\nls`,
  'in JSON': (secret) => JSON.stringify({ stdout: `line\n${secret}\nline`, n: 1.5 }),
  'as a name in JSON': (secret) => JSON.stringify({ [secret]: true }),
  'in JSON in JSON': (secret) => JSON.stringify({ output: JSON.stringify({ log: `a\n${secret}\n` }) }),
  'R4 in a stack trace': (secret) => `Error: bad\n    at call (${secret})\n    at main (src/main.js:3:1)\n`,
  'R4 in a diff hunk': (secret) =>
    `@@ -1 +1 @@\n-key = ""\n${secret
      .split('\n')
      .map((line) => `+${line}`)
      .join('\n')}\n`,
  'in the colours of a terminal': (secret) => `12:\u001b[01;31m\u001b[K${secret}\u001b[m\u001b[K end`,
  'in colours, in JSON in JSON': (secret) =>
    JSON.stringify({ output: JSON.stringify({ log: `a \u001b[32m${secret}\u001b[0m\n` }) }),
  'in colours that are written out': (secret) => `printf '\\033[1m${secret}\\x1b[0m'; echo '\\e[K${secret}'`,
  'behind the escape character, or a bracket behind it': (secret) => `\u001b${secret} \u001b[${secret}`,
  'R4 in base64': (secret) =>
    `data ${Buffer.from(`the key is ${secret} and more text`).toString('base64')} end`,
  'R4 URL-encoded': (secret) => `GET /x?note=${encodeURIComponent(`key: ${secret} !`)}&y=1`,
};

/** What must not be found in what comes out: the longest run of the secret's own characters. */
function trace(secret: string): string {
  return secret.split('\n').find((line) => !line.startsWith('-----')) ?? secret;
}

for (const [context, put] of Object.entries(CONTEXTS)) {
  describe(`a secret ${context} is replaced or withheld`, () => {
    for (const [kind, secret] of Object.entries(TOKENS)) {
      test(kind, async () => {
        const content = put(secret);
        const event = await one({ output: content });
        const text = contentOf(event, 'output') ?? '';
        expect(text).not.toContain(trace(secret));
        expect(Buffer.from(text.split(' ')[1] ?? '', 'base64').toString()).not.toContain(trace(secret));
        expect(decodeURIComponent(text.replace(/%(?![0-9A-F]{2})/g, '%25'))).not.toContain(trace(secret));
        expect(event.withheld ?? event.redactions[0]?.rule).toBeTruthy();
        // Certain tokens cost their event nothing but themselves.
        if (context !== 'R4 in a diff hunk') expect(event.withheld).toBeNull();
      });
    }
  });
}

describe('a secret given away by what stands around it', () => {
  for (const [kind, [text, secret]] of Object.entries(IN_CONTEXT)) {
    test(kind, async () => {
      const event = await one({ text, result: JSON.stringify({ stdout: text }) });
      expect(event.withheld).toBeNull();
      for (const field of ['text', 'result'] as const) {
        expect(contentOf(event, field)).not.toContain(secret);
        expect(contentOf(event, field)).toContain('[REDACTED:');
      }
      expect(contentOf(event, 'text')?.slice(0, 8)).toBe(text.slice(0, 8));
    });
  }

  test('a name and its value in JSON', async () => {
    const secret = IN_CONTEXT['aws-secret-key']?.[1] ?? '';
    const event = await one({ result: JSON.stringify({ SecretAccessKey: secret, Region: 'eu' }) });
    expect(JSON.parse(contentOf(event, 'result') ?? '')).toEqual({
      SecretAccessKey: '[REDACTED:aws-secret-key]',
      Region: 'eu',
    });
  });

  test('a value that looks random under a telling name is doubtful: withheld', async () => {
    expect((await one({ text: `api_key = "${TOKENS['npm-token']?.slice(4)}"` })).withheld).toBe(
      'quarantined',
    );
  });

  test('R3 names, placeholders, variables, hashes, ids, paths and long words are no secrets', async () => {
    const texts = [
      'token = "your-token-goes-here-please"',
      `password: "$${'{DB_PASSWORD_FROM_ENV}'}"`,
      'const tokenizer_name = "bert-base-uncased-finetuned"',
      `commit ${'0123456789abcdef'.repeat(3).slice(0, 40)} sha256:${'0123456789abcdef'.repeat(4)}`,
      'https://user:password@example.com/ and postgres://postgres:password@localhost/x',
      'mcp__github__create_pull_request toolu_01A09q90qw90lq917835lq9 /home/me/src/secret/token/password.py',
      'disk-usage-of-the-old-machine-in-the-basement-by-month',
      'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("a key: token, password")',
    ];
    for (const text of texts) {
      const event = await one({ text });
      expect([text, event.withheld, contentOf(event, 'text')]).toEqual([text, null, text]);
    }
  });
});

describe('what a batch may not change', () => {
  test('R2 JSON stays JSON, and what was not hit keeps its bytes', async () => {
    const secret = TOKENS['github-token'] ?? '';
    const content = `{ "big": 12345678901234567890, "f": 1.0, "u": "\\u00e9\\/", "twice": 1, "twice": "x ${secret}" }`;
    const text = contentOf(await one({ result: content }), 'result') ?? '';
    expect(text).toBe(content.replace(secret, '[REDACTED:github-token]'));
    expect(() => JSON.parse(text)).not.toThrow();
  });

  test("a comment of the agent's cannot switch the scanner off", async () => {
    const secret = TOKENS['linear (secretlint)'] ?? '';
    const [comment, event] = await scan(
      eventWith({ text: '/* secretlint-disable */' }),
      eventWith({ text: `# secretlint-disable\n${secret}` }),
    );
    expect(contentOf(comment ?? blankEvent(), 'text')).toBe('/* secretlint-disable */');
    expect(contentOf(event ?? blankEvent(), 'text')).not.toContain(secret);
  });

  test('a secret on the seam of two batches is found', async () => {
    const secret = TOKENS['npm-token'] ?? '';
    for (const before of [BATCH - 20, BATCH * 2 - 100_000]) {
      const text = `${'word '.repeat(before / 5)}\n${secret}\n${'word '.repeat(1000)}`;
      expect(contentOf(await one({ output: text }), 'output')).not.toContain(secret);
    }
  });

  test('a secret in one event of many takes nothing from its neighbours', async () => {
    const secret = TOKENS['private-key'] ?? '';
    const halves = [secret.slice(0, 60), 'plain', secret, 'plain'].map((text) => eventWith({ text }));
    const [, second, third, fourth] = await scan(...halves);
    expect(second).toEqual(halves[1]);
    expect(contentOf(third ?? blankEvent(), 'text')).toBe('[REDACTED:private-key]');
    expect(fourth).toEqual(halves[3]);
  });

  test('R4 a secret split over two events is not found: each half is scanned by itself', async () => {
    const secret = TOKENS['github-token'] ?? '';
    const halves = [secret.slice(0, 20), secret.slice(20)].map((text) => eventWith({ text }));
    expect(await scan(...halves)).toEqual(halves);
  });

  test('what becomes of an event never depends on the others of its batch', async () => {
    const piece = fc.constantFrom(
      'plain text\n',
      '{"a":"b\\nc"}',
      ...Object.values(TOKENS),
      ...Object.values(IN_CONTEXT).map(([text]) => text),
      'Authorization: Bearer ',
      'aws_secret',
      '"',
      '-----BEGIN RSA PRIVATE KEY-----\n',
    );
    const content = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(' '));
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 2, maxLength: 6 }), async (contents) => {
        const events = contents.map((text) => eventWith({ text }));
        const alone = [];
        for (const event of events) alone.push(...(await scan(event)));
        expect(await scan(...events)).toEqual(alone);
      }),
      { numRuns: 60 },
    );
  });

  test('no text takes the rules longer than its length allows', async () => {
    const stretched = [
      `-----BEGIN PRIVATE KEY-----${' '.repeat(100_000)}x`,
      '-----BEGIN PRIVATE KEY-----'.repeat(8000),
      `-----BEGIN PRIVATE KEY-----${'+ -'.repeat(60_000)}`,
      '://a:'.repeat(40_000),
      `://${'a:'.repeat(100_000)}`,
      'eyJaaaaaaaaa.'.repeat(15_000),
      `authorization:${' '.repeat(200_000)}`,
      ' sk-a'.repeat(40_000),
      'token'.repeat(40_000),
      `token = "${'a1B'.repeat(60_000)}`,
      '%41'.repeat(60_000),
      `{"a":"${'\\\\'.repeat(100_000)}"}`,
      `"${'\\"'.repeat(100_000)}`,
    ];
    // Two and a half million characters; a pattern that goes back over its steps takes longer than a test may.
    await scan(...stretched.map((text) => eventWith({ text })));
  });
});
