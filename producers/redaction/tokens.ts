/**
 * Secrets that are known by how they begin. Every quantifier is bounded and follows a literal, so a text costs
 * at most (length / prefix) x bound steps: linear, whatever it holds (bench/hook-redaction.ts measures it).
 */
import { wordStart } from './word-start.ts';

export interface TokenRule {
  name: string;
  /** Global; the whole match is replaced. */
  pattern: RegExp;
}

const START = wordStart('A-Za-z0-9_');

function rule(name: string, ...forms: string[]): TokenRule {
  return { name, pattern: new RegExp(`${START}(?:${forms.join('|')})`, 'g') };
}

const NOT_MORE = '(?![A-Za-z0-9_-])';

export const TOKEN_RULES: readonly TokenRule[] = [
  rule(
    'aws_access_key',
    `(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}${NOT_MORE}`,
    `(?:AKIA|ASIA)[A-Z0-9]{16}${NOT_MORE}`,
  ),
  rule('github_token', 'gh[oprsu]_[A-Za-z0-9]{36,255}', 'github_pat_[A-Za-z0-9_]{22,255}'),
  rule('gitlab_token', 'gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_-]{20,300}'),
  rule(
    'slack_token',
    'xox[abeoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,255}',
    'xapp-[0-9]-[A-Za-z0-9-]{20,255}',
    'https://hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,200}',
  ),
  rule('anthropic_key', 'sk-ant-[A-Za-z0-9_-]{20,255}'),
  rule(
    'openai_key',
    'sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,255}',
    `sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}`,
    `sk-[A-Za-z0-9]{48}${NOT_MORE}`,
    'sk-or-v1-[0-9a-f]{64}',
  ),
  rule(
    'google_key',
    `AIza[A-Za-z0-9_-]{35}${NOT_MORE}`,
    'ya29\\.[A-Za-z0-9_-]{20,1000}',
    'GOCSPX-[A-Za-z0-9_-]{28}',
    '1//0[A-Za-z0-9_-]{40,200}',
  ),
  rule('stripe_key', '[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,255}', 'whsec_[A-Za-z0-9+/]{32,128}={0,2}'),
  rule('npm_token', `npm_[A-Za-z0-9]{36}${NOT_MORE}`),
  rule(
    'pypi_token',
    'pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,1000}',
    'pypi-AgENdGVzdC5weXBpLm9yZ[A-Za-z0-9_-]{50,1000}',
  ),
  rule('huggingface_token', `hf_[A-Za-z0-9]{34,40}${NOT_MORE}`),
  rule('sendgrid_key', 'SG\\.[A-Za-z0-9_-]{22}\\.[A-Za-z0-9_-]{43}'),
  rule('telegram_token', `[0-9]{8,10}:AA[A-Za-z0-9_-]{33}${NOT_MORE}`),
  rule('age_key', 'AGE-SECRET-KEY-1[0-9A-Z]{58}'),
  rule(
    'vendor_token',
    'do[opr]_v1_[a-f0-9]{64}',
    `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}${NOT_MORE}`,
    `dapi[a-f0-9]{32}(?:-[0-9])?${NOT_MORE}`,
    'dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,64}',
    'hv[sbr]\\.[A-Za-z0-9_-]{24,300}',
    'ATATT3[A-Za-z0-9_=-]{60,300}',
    'lin_api_[A-Za-z0-9]{32,64}',
    'gsk_[A-Za-z0-9]{40,64}',
    'xai-[A-Za-z0-9]{60,100}',
    `r8_[A-Za-z0-9]{37}${NOT_MORE}`,
    'pplx-[A-Za-z0-9]{40,64}',
    'sbp_[a-f0-9]{40}',
    'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,64}',
    'figd_[A-Za-z0-9_-]{38,60}',
    'rubygems_[a-f0-9]{48}',
    'ntn_[A-Za-z0-9]{40,60}',
    'dp\\.(?:pt|st|ct|sa)\\.[A-Za-z0-9_.-]{40,64}',
  ),
  rule('jwt', 'eyJ[A-Za-z0-9_-]{8,512}\\.eyJ[A-Za-z0-9_-]{8,6000}\\.[A-Za-z0-9_-]{0,1024}'),
];

/** What every rule above begins with: a text without any of these is not looked at further. */
export const TOKEN_TRIGGER =
  /A(?:KIA|SIA|BIA|CCA|Iza|TATT3|GE-SECRET)|gh[oprsu]_|github_pat_|gl[a-z]{2,5}-|xox[abeoprs]|xapp-|hooks\.slack|sk-|ya29\.|GOCSPX|1\/\/0|[rs]k_|whsec_|npm_|pypi-|hf_|SG\.|:AA|do[opr]_v1|shp[acps]|dapi|dckr_|hv[sbr]\.|lin_api|gsk_|xai-|r8_|pplx-|sbp_|pscale_|figd_|rubygems_|ntn_|dp\.|eyJ/;
