import { describe, expect, test } from 'vitest';
import { secretlintHits } from './secretlint.ts';

/** Put together here, so that no scanner of this repository takes them for real. */
const SECRETS: Record<string, string> = {
  github: ['ghp', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('_'),
  npm: ['npm', 'Q1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J7k8'].join('_'),
  slack: ['xoxb', '12345678901', '1234567890123', 'AbCdEfGhIjKlMnOpQrStUvWx'].join('-'),
  basicauth: `https://${['reader', 'pa55w0rdpa55w0rd'].join(':')}@example.org/x`,
  privatekey: `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${'MIIEpAIBAAKCAQEA'.repeat(8)}\n-----END RSA ${'PRIVATE'} KEY-----`,
};

describe('secretlint\u2019s own rules', () => {
  test.each(Object.entries(SECRETS))('%s', async (rule, secret) => {
    const text = `before ${secret} after`;
    const hits = await secretlintHits(text);
    expect(hits).toContainEqual(expect.objectContaining({ rule }));
    for (const { start, end } of hits) expect(secret).toContain(text.slice(start, end));
  });

  test('no comment in the text switches one off', async () => {
    const text = `/* secretlint-disable */\n${SECRETS.github}\n`;
    expect(await secretlintHits(text)).toContainEqual(expect.objectContaining({ rule: 'github' }));
  });

  test('what holds no secret has no hits', async () => {
    expect(await secretlintHits('nothing to see here: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad')).toEqual([]);
  });
});
