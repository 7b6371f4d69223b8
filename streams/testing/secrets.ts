/** One made-up secret of each kind, put together at run time so that no scanner takes this file for a leak. */
const mix = (length: number) =>
  'aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0zC'.repeat(Math.ceil(length / 32)).slice(0, length);
const hex = (length: number) =>
  '0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(Math.ceil(length / 32)).slice(0, length);
const upper = (length: number) => 'Q7W2E9R4T6Y8U3I5'.repeat(4).slice(0, length);
const begin = (kind: string) => `-----BEGIN ${kind}PRIVATE KEY-----`;
const end = (kind: string) => `-----END ${kind}PRIVATE KEY-----`;
const body = [mix(64), mix(64), mix(40)].join('\n');

/** Whole tokens: what must be gone wherever they stood. */
export const TOKENS: Readonly<Record<string, string>> = {
  'aws-access-key-id': `AKIA${upper(16)}`,
  'github-token': `ghp_${mix(36)}`,
  'github-token fine-grained': `github_pat_${mix(22)}_${mix(59)}`,
  'gitlab-token': `glpat-${mix(20)}`,
  'slack-token': `xoxb-${'123456789012'}-${'123456789013'}-${mix(24)}`,
  'stripe-key': `sk_live_${mix(24)}`,
  'anthropic-key': `sk-ant-api03-${mix(93)}AA`,
  'openai-key': `sk-proj-${mix(74)}T3BlbkFJ${mix(74)}`,
  'google-key': `AIza${mix(35)}`,
  'google-token': `GOCSPX-${mix(28)}`,
  'npm-token': `npm_${mix(36)}`,
  'pypi-token': `pypi-AgEIcHlwaS5vcmc${mix(60)}`,
  'huggingface-token': `hf_${'aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH'}`,
  'sendgrid-key': `SG.${mix(22)}.${mix(43)}`,
  'vault-token': `hvs.${mix(95)}`,
  'docker-token': `dckr_pat_${mix(27)}`,
  'digitalocean-token': `dop_v1_${hex(64)}`,
  'age-key': `AGE-SECRET-KEY-1${upper(58)}`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${mix(43)}`,
  'private-key': `${begin('RSA ')}\n${body}\n${end('RSA ')}`,
  'openssh key': `${begin('OPENSSH ')}\n${body}\n${end('OPENSSH ')}`,
  'linear (secretlint)': `lin_api_${mix(40)}`,
  'databricks (secretlint)': `dapi${hex(32)}`,
};

/** Secrets that only what stands around them gives away: the text and the part that must go. */
export const IN_CONTEXT: Readonly<Record<string, readonly [text: string, secret: string]>> = {
  'aws-secret-key': [`aws_secret_access_key = ${mix(40)}`, mix(40)],
  'url-password': [`git clone https://me:${mix(12)}@git.example.com/x.git`, mix(12)],
  'database url': [`DATABASE_URL=postgres://app:${mix(14)}@db.internal:5432/app`, mix(14)],
  authorization: [`curl -H 'Authorization: Bearer ${mix(32)}' https://x.example.com`, mix(32)],
  'slack-webhook': [`https://hooks.slack.com/services/T0${upper(8)}/B0${upper(8)}/${mix(24)}`, mix(24)],
};
