/** Text inside text: base64 and percent-encoding (pains R4). One level deep. */

/** A run of encoded characters and what it says. */
export interface EncodedRun {
  run: string;
  decoded: string;
  how: 'base64' | 'url';
}

const MIN_RUN = 40;
const MAX_URL_RUN = 1 << 16;

const BASE64 = table((c) => /[A-Za-z0-9+/_-]/.test(c));
/** What ends a percent-encoded run. */
const URL_RUN = table((c) => /[A-Za-z0-9%._~+-]/.test(c));

function table(is: (char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (is(String.fromCharCode(code)) ? 1 : 0));
}

const inside = (set: Uint8Array, code: number): boolean => code < 128 && set[code] === 1;

/** Every run of a text that decodes to readable text. */
export function encodedRuns(text: string): EncodedRun[] {
  return [...base64Runs(text), ...urlRuns(text)];
}

/** A run of at least 40 covers a multiple of 40: only those places are looked at. */
function base64Runs(text: string): EncodedRun[] {
  const runs: EncodedRun[] = [];
  let end = 0;
  for (let at = MIN_RUN - 1; at < text.length; at += MIN_RUN) {
    if (at < end || !inside(BASE64, text.charCodeAt(at))) continue;
    const from = back(text, BASE64, at, end);
    end = forth(text, BASE64, at, text.length);
    if (end - from < MIN_RUN) continue;
    const run = text.slice(from, end);
    const decoded = readable(run);
    if (decoded !== null) runs.push({ run, decoded, how: 'base64' });
  }
  return runs;
}

function readable(run: string): string | null {
  if (!isReadable(Buffer.from(run.slice(0, 64), 'base64'))) return null;
  const bytes = Buffer.from(run, 'base64');
  return isReadable(bytes) ? bytes.toString('latin1') : null;
}

function isReadable(bytes: Uint8Array): boolean {
  let odd = 0;
  for (const byte of bytes) if (byte > 126 || (byte < 32 && byte !== 10 && byte !== 13 && byte !== 9)) odd++;
  return odd * 20 <= bytes.length;
}

function urlRuns(text: string): EncodedRun[] {
  const runs: EncodedRun[] = [];
  let end = 0;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', Math.max(at + 1, end))) {
    if (!/^%[0-9A-Fa-f]{2}/.test(text.slice(at, at + 3))) continue;
    const from = back(text, URL_RUN, at, Math.max(end, at - MAX_URL_RUN));
    end = forth(text, URL_RUN, at, at + MAX_URL_RUN);
    const run = text.slice(from, end);
    if (run.length < 16) continue;
    const decoded = run.replace(/(?:%[0-9A-Fa-f]{2})+/g, (hex) =>
      Buffer.from(hex.replaceAll('%', ''), 'hex').toString('utf8'),
    );
    runs.push({ run, decoded, how: 'url' });
  }
  return runs;
}

function back(text: string, set: Uint8Array, at: number, least: number): number {
  let from = at;
  while (from > least && inside(set, text.charCodeAt(from - 1))) from--;
  return from;
}

function forth(text: string, set: Uint8Array, at: number, most: number): number {
  let end = at + 1;
  while (end < most && inside(set, text.charCodeAt(end))) end++;
  return end;
}
