/**
 * Our own rules beside secretlint's: what the hook's floor knows, and what transcripts show. Every pattern
 * runs in linear time and only where its literal was found, so that a rule costs one search of the text.
 */

interface Rule {
  id: string;
  /** What a match begins with; in lower case where the pattern takes any. */
  needles: readonly string[];
  /** Sticky; the group `secret` is what is replaced, the whole match where there is none. */
  pattern: RegExp;
  /** A doubtful hit withholds the event instead of replacing. */
  doubtful?: boolean;
  /** A match that is no secret: a placeholder, a variable, a word. */
  unless?: (secret: string) => boolean;
}

export interface Hit {
  start: number;
  end: number;
  rule: string;
  doubtful: boolean;
}

/** Not inside a longer word. */
const B = '(?<![A-Za-z0-9_])';
/** After a token of one length: not the beginning of a longer one. */
const E = '(?![A-Za-z0-9_-])';

function token(id: string, needles: string[], body: string): Rule {
  return { id, needles, pattern: new RegExp(`${B}(?:${body})`, 'y') };
}

/** Shell and template variables, and values a person typed to stand for a secret. */
const PLACEHOLDER =
  /^[[<{$%*]|^(.)\1*$|^(?:your|example|dummy|test|fake|change|replace|insert|redacted|placeholder)|^(?:password|passwd|pass|secret|token|user|none|null|undefined|true|false)$/i;

/** What stands where a secret would: a variable, a word, what was redacted before. */
export function isPlaceholder(secret: string): boolean {
  return PLACEHOLDER.test(secret) || secret.includes('REDACTED');
}

const RULES: readonly Rule[] = [
  {
    id: 'private-key',
    needles: ['-----BEGIN '],
    // Whole, or cut before its end: then what can belong to it. A body holds a long run, or it is source code.
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?=[^-]{0,400}?[A-Za-z0-9+/]{32})(?:[^-]|-(?!----)){32,32768}-----END (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----|(?:[\s-]|\\[rn])*(?:[A-Za-z0-9+/=]{20,}(?:[\s-]|\\[rn])*)+)/y,
  },
  token('age-key', ['AGE-SECRET-KEY-1'], 'AGE-SECRET-KEY-1[0-9A-Z]{58}'),
  token(
    'aws-access-key-id',
    ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    `(?:(?:AKIA|ASIA)[A-Z0-9]{16}|A[BC][IC]A[A-Z2-7]{16})${E}`,
  ),
  {
    id: 'aws-secret-key',
    needles: ['secret_access_key', 'secretaccesskey', 'secret-access-key', 'aws_secret', 'session_token'],
    pattern:
      /(?:secret_?-?access_?-?key|aws_secret(?:_key)?|session_token)["'\]]{0,3}\s{0,4}(?:=>|[:=,])\s{0,4}["']?(?<secret>[A-Za-z0-9/+]{40,1024}={0,2})(?![A-Za-z0-9/+=])/iy,
  },
  token('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9_]{36,255}'),
  token('github-token', ['github_pat_'], 'github_pat_[A-Za-z0-9_]{22,255}'),
  token(
    'gitlab-token',
    ['pat', 'dt', 'rt', 'rtr', 'cbt', 'ptt', 'ft', 'imt', 'agent', 'soat', 'oas', 'ffct', 'wt'].map(
      (kind) => `gl${kind}-`,
    ),
    'gl[a-z]{2,5}-[A-Za-z0-9_-]{20,300}',
  ),
  token('slack-token', ['xox', 'xapp-'], '(?:xox[abeoprs](?:\\.xox[bp])?|xapp)-[A-Za-z0-9-]{10,256}'),
  {
    id: 'slack-webhook',
    needles: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9/_-]{20,200})/y,
  },
  token(
    'stripe-key',
    ['sk_live_', 'sk_test_', 'sk_prod_', 'rk_live_', 'rk_test_', 'rk_prod_', 'whsec_'],
    '(?:[sr]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/]{16,255}={0,2}',
  ),
  token('anthropic-key', ['sk-ant-'], 'sk-ant-[A-Za-z0-9_-]{20,256}'),
  token(
    'openai-key',
    ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-None-', 'sk-or-v1-'],
    'sk-[A-Za-z0-9]{2,8}-[A-Za-z0-9_-]{20,256}',
  ),
  // A long name in kebab case has no upper case and digit both.
  token('openai-key', ['sk-'], 'sk-(?=[a-z_-]{0,64}[A-Z0-9])(?=[a-z0-9_-]{0,64}[A-Z])[A-Za-z0-9_-]{32,256}'),
  token('openai-key', ['sk-'], `sk-[A-Za-z0-9]{48}${E}`),
  token('google-key', ['AIza'], `AIza[A-Za-z0-9_-]{35}${E}`),
  token(
    'google-token',
    ['ya29.', 'GOCSPX-', '1//0'],
    '(?:ya29\\.[A-Za-z0-9_-]{20,1000}|GOCSPX-[A-Za-z0-9_-]{28}|1//0[A-Za-z0-9_-]{40,200})',
  ),
  token('npm-token', ['npm_'], `npm_[A-Za-z0-9]{36}${E}`),
  token('pypi-token', ['pypi-Ag'], 'pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZ)[A-Za-z0-9_-]{50,1024}'),
  token('huggingface-token', ['hf_'], 'hf_[A-Za-z0-9]{30,64}'),
  token('sendgrid-key', ['SG.'], 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,128}'),
  {
    id: 'telegram-token',
    needles: [':AA'],
    pattern: new RegExp(`(?<=${B}[0-9]{8,10}):AA[A-Za-z0-9_-]{33}${E}`, 'y'),
  },
  token('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 'do[opr]_v1_[a-f0-9]{64}'),
  token('vault-token', ['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[A-Za-z0-9_-]{24,300}'),
  token('docker-token', ['dckr_pat_', 'dckr_oat_'], 'dckr_[po]at_[A-Za-z0-9_-]{20,64}'),
  token('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 'shp[acps]{2}_[a-fA-F0-9]{32,64}'),
  token('databricks-token', ['dapi'], `dapi[a-f0-9]{32}(?:-[0-9])?${E}`),
  token('atlassian-token', ['ATATT3'], 'ATATT3[A-Za-z0-9_=-]{60,300}'),
  token(
    'doppler-token',
    ['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.'],
    'dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9_.-]{40,64}',
  ),
  token('planetscale-token', ['pscale_'], 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}'),
  token(
    'vendor-token',
    ['lin_api_', 'gsk_', 'xai-', 'pplx-'],
    '(?:lin_api_|gsk_|xai-|pplx-)[A-Za-z0-9]{32,100}',
  ),
  token(
    'vendor-token',
    ['r8_', 'sbp_', 'figd_'],
    '(?:r8_[A-Za-z0-9]{37}|sbp_[a-f0-9]{40}|figd_[A-Za-z0-9_-]{38,60})',
  ),
  token('vendor-token', ['rubygems_', 'ntn_'], '(?:rubygems_[a-f0-9]{48}|ntn_[A-Za-z0-9]{40,60})'),
  {
    id: 'jwt',
    needles: ['eyJ'],
    pattern: new RegExp(
      `${B}eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8,8192}\\.[A-Za-z0-9_-]{0,2048}`,
      'y',
    ),
  },
  {
    id: 'url-password',
    needles: ['://'],
    pattern: /:\/\/[^\s/:@"'<>`\\]{0,128}:(?<secret>[^\s/:@"'<>`\\]{3,256})@(?=[A-Za-z0-9[])/iy,
    unless: isPlaceholder,
  },
  {
    id: 'authorization',
    needles: ['authorization'],
    pattern:
      /authorization["'\]]{0,3}\s{0,4}[:=,]\s{0,4}["']?(?:bearer|basic|token)\s{1,4}(?<secret>[A-Za-z0-9._~+/=-]{16,4096})/iy,
    unless: isPlaceholder,
  },
  {
    id: 'assigned-secret',
    needles: ['secret', 'token', 'password', 'passwd', 'api_key', 'apikey', 'api-key', 'private_key'],
    pattern:
      /(?:secret|token|password|passwd|api[_-]?key|private_key)[A-Za-z0-9_]{0,16}["'\]]{0,3}\s{0,4}(?:=>|[:=])\s{0,4}["'](?<secret>[A-Za-z0-9_+/=.~!@#%^&*-]{16,512})["']/iy,
    doubtful: true,
    unless: (secret) => isPlaceholder(secret) || !looksRandom(secret),
  },
];

/** Letters of both cases or hex, and digits, spread as chance spreads them: no word, path or identifier. */
function looksRandom(secret: string): boolean {
  if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret)) return false;
  if (/^[A-Za-z]+(?:[._/-][A-Za-z]+)*\d{0,4}$/.test(secret)) return false;
  const counts = new Map<string, number>();
  for (const char of secret) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / secret.length) * Math.log2(count / secret.length);
  return bits >= 3.5;
}

/** A rule and the one of its needles, as bytes, at which it is tried. */
interface Start {
  rule: Rule;
  needle: Uint8Array;
}

/** Starts by the first three characters of the needle, seven bits each; 0 is none. */
const GROUP_AT = new Uint16Array(1 << 21);
const GROUPS: Start[][] = [[]];

for (const rule of RULES)
  for (const needle of rule.needles)
    for (const start of startsOf(needle.slice(0, 3), rule.pattern.ignoreCase)) {
      const place = [...start].reduce((sum, char) => (sum << 7) | char.charCodeAt(0), 0);
      const group = GROUP_AT[place] || GROUPS.push([]) - 1;
      GROUP_AT[place] = group;
      GROUPS[group]?.push({ rule, needle: Buffer.from(needle) });
    }

/** The ways to write three characters, in any case where that is asked for. */
function startsOf(text: string, anyCase: boolean): string[] {
  if (!anyCase) return [text];
  return [...text].reduce<string[]>(
    (starts, char) =>
      starts.flatMap((start) => [...new Set([char, char.toUpperCase()])].map((c) => start + c)),
    [''],
  );
}

/**
 * Hits of our own rules in a text, in no order; they may overlap. One pass over its bytes: one pattern of all
 * needles, or a search each, takes three times as long and more.
 * @param bytes of the text, one a character
 */
export function ownHits(text: string, bytes: Uint8Array): Hit[] {
  const hits: Hit[] = [];
  let place = 0;
  for (let at = 0; at < bytes.length; at++) {
    place = ((place << 7) | ((bytes[at] ?? 0) & 127)) & 0x1fffff;
    const group = GROUP_AT[place];
    if (!group) continue;
    for (const { rule, needle } of GROUPS[group] ?? [])
      if (standsAt(bytes, at - 2, needle, rule.pattern.ignoreCase)) matchAt(rule, text, at - 2, hits);
  }
  return hits;
}

/** @param needle in lower case where the case does not count */
function standsAt(bytes: Uint8Array, from: number, needle: Uint8Array, anyCase: boolean): boolean {
  for (let at = 3; at < needle.length; at++) {
    const byte = bytes[from + at] ?? 0;
    const wanted = needle[at];
    if (byte !== wanted && !(anyCase && (byte | 32) === wanted)) return false;
  }
  return true;
}

function matchAt(
  { pattern, id, unless, doubtful = false }: Rule,
  text: string,
  at: number,
  hits: Hit[],
): void {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  if (!match) return;
  const secret = match.groups?.secret ?? match[0];
  if (unless?.(secret)) return;
  const start = at + match[0].lastIndexOf(secret);
  hits.push({ start, end: start + secret.length, rule: id, doubtful });
}
