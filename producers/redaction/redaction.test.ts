import { describe, expect, test } from 'vitest';
import { redactPiece, redactText } from './text.ts';

// Put together here, so that no scanner takes this file for a leak.
const fake = (...parts: string[]) => parts.join('');
const A36 = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3';
const B64 = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
const BEGIN = fake('-----BEGIN RSA ', 'PRIVATE KEY-----');
const END = fake('-----END RSA ', 'PRIVATE KEY-----');

const SECRETS: [rule: string, secret: string][] = [
  ['aws_access_key', fake('AK', 'IA', 'Z7QRSTUVWX234567')],
  ['github_token', fake('gh', 'p_', A36)],
  ['github_token', fake('github_', 'pat_', A36)],
  ['gitlab_token', fake('gl', 'pat-', A36.slice(0, 20))],
  ['slack_token', fake('xo', 'xb-', '123456789012-abcdefABCDEF')],
  ['anthropic_key', fake('sk-', 'ant-', 'api03-', A36)],
  ['openai_key', fake('sk-', 'proj-', A36)],
  ['google_key', fake('AI', 'za', A36.slice(0, 35))],
  ['stripe_key', fake('sk', '_live_', A36.slice(0, 24))],
  ['npm_token', fake('npm', '_', A36)],
  ['jwt', fake('ey', 'JhbGciOiJIUzI1NiJ9.', 'ey', 'JzdWIiOiIxMjM0NTY3ODkwIn0.', A36)],
];

describe('what the floor knows is found, wherever it stands', () => {
  test.each(SECRETS)('%s', (rule, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['key is ', ', yes'],
      ['"', '"'],
      ['\n+', '\n'],
      ['=', '\r\n'],
      ['\u2192', ' '],
    ])
      expect(redactText(`${before}${secret}${after}`).text).toBe(`${before}[REDACTED:${rule}]${after}`);
  });

  test.each([
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz', 'wJalr'],
    ['export DB_PASSWORD="hunter22hunter"', 'hunter'],
    ['DATABASE_PASSWORD=correct-horse', 'correct'],
    ['{"password": "s3cr3tvalue"}', 's3cr3t'],
    ['{\\"api_key\\": \\"abc123def456\\"}', 'abc123'],
    ['client_secret: 8Q~xyz123456789', 'xyz123'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz', 'wJalr'],
    ["const token = 'abc123def456ghi';", 'abc123'],
    ['Authorization: Bearer abcdef1234567890abcdef', 'abcdef12'],
    [`curl -H "authorization: basic ${Buffer.from('user:pa55word').toString('base64')}"`, 'dXNlc'],
  ])('%s', (text, part) => {
    const { text: redacted, hits } = redactText(text);
    expect(hits).toBe(1);
    expect(redacted).not.toContain(part);
    expect(redacted).toContain('[REDACTED:');
  });
});

test.each([
  ['postgres://admin:pa55word@db.internal/x', 'postgres://admin:[REDACTED:url_password]@db.internal/x'],
  [
    `git clone https://${A36.slice(0, 24)}@example.org/x`,
    'git clone https://[REDACTED:url_token]@example.org/x',
  ],
  ['authorization: Bearer abcdef1234567890abcdef;', 'authorization: Bearer [REDACTED:bearer_header];'],
])('of %s all of the secret goes, and nothing else', (text, redacted) => {
  expect(redactText(text).text).toBe(redacted);
});

test.each([
  'max_tokens=4096',
  'input_tokens: 12345678',
  'token = tokenizer.next()',
  'password = get_password(user)',
  'const token: string = await readToken()',
  'if (token === expected1) {',
  'TOKEN_TYPE=bearer1',
  'SECRET_FILE=/run/secrets/db1',
  fake('password: $', '{DB_PASSWORD1}'),
  'API_KEY=<your-key-1>',
  'the basic understanding of bearer authentication',
  'token_count: 99999999',
  'secret: Uint8Array, token: Sha256Digest',
  'self.secret_key = self.config.secret_key2',
  'diff --git a/token.py b/token.py\nindex 3b18e512dba79e4c8300dd08aeb37f8e728b8dad..9daeafb9864cf43055ae93beb0afd6c7d144bfa4 100644',
  'toolu_01A09q90qw90lq917835lq9',
  'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'src/auth/access_token_provider.ts:12:34',
  'https://example.org:8080/a@b',
  `grep -n "${BEGIN}" src/pem.ts && echo found the marker of a key`,
  'mcp__server__get_secret_value',
])('R1 stays whole: %s', (text) => {
  expect(redactText(text)).toEqual({ text, hits: 0 });
});

test('a second pass changes nothing, also in an address', () => {
  for (const text of [`https://${A36.slice(0, 24)}@example.org/x`, 'postgres://admin:pa55word@db/x']) {
    const once = redactText(text).text;
    expect(redactText(once)).toEqual({ text: once, hits: 0 });
  }
});

describe('private keys', () => {
  const body = `${B64}\n${B64}\nabcd12==`;

  test.each([
    ['whole', `a\n${BEGIN}\n${body}\n${END}\nb`, 'a\n[REDACTED:private_key]\nb'],
    ['without its end', `a\n${BEGIN}\n${body}`, 'a\n[REDACTED:private_key]'],
    [
      'cut off before other text',
      `${BEGIN}\n${B64}\n... and so on, truncated`,
      '[REDACTED:private_key]... and so on, truncated',
    ],
    ['without its beginning', `${body}\n${END}\nb`, '[REDACTED:private_key]\nb'],
    ['in a string literal', `K="${BEGIN}\\n${B64}\\n${END}\\n"`, 'K="[REDACTED:private_key]\\n"'],
    ['in a diff', `+${BEGIN}\n+${B64}\n+${B64}\n+${END}\n+x`, '+[REDACTED:private_key]\n+x'],
    [
      'two of them',
      `${BEGIN}\n${body}\n${END}\nmid\n${BEGIN}\n${body}\n${END}`,
      '[REDACTED:private_key]\nmid\n[REDACTED:private_key]',
    ],
  ])('%s', (_name, text, expected) => {
    expect(redactText(text).text).toBe(expected);
  });

  test('across the pieces of one message, known to be open or judged by its lines alone', () => {
    const first = redactPiece(`here:\n${BEGIN}\n${B64}\n`, 0, false);
    expect(first).toMatchObject({ text: 'here:\n[REDACTED:private_key]', open: true });
    expect(redactPiece(`${B64}\n${B64}\n`, 1, true)).toMatchObject({
      text: '[REDACTED:private_key]',
      open: true,
    });
    const last = redactPiece(`abcd12==\n${END}\nand so on\n`, 2, true);
    expect(last).toMatchObject({ text: '[REDACTED:private_key]\nand so on\n', open: false });
    const unknown = redactPiece(`${B64.slice(0, 64)}\n${B64.slice(0, 64)}\nnot a key\n`, 1, false);
    expect(unknown.text).toBe('[REDACTED:private_key]not a key\n');
    const hashes = `${'0f'.repeat(32)}\n`;
    expect(redactPiece(hashes, 1, false).text).toBe(hashes);
  });
});
