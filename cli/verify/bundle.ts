/** The bundle of `session export`: what it consists of, and how it is read and written. */

import { isUtf8 } from 'node:buffer';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { canonical } from '../../schemas/canonical.ts';
import { compare } from '../../schemas/compare.ts';
import { FlipstreamError, hasCode, messageOf } from '../../schemas/errors.ts';
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { sha256 } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { atOnce, mapping, type Steps } from '../steps.ts';

/** What the bundle says of itself: counts and heads, so that a cut end is noticed. Not signed. */
export const Manifest = z.strictObject({
  bundle: z.literal(1),
  session_id: z.string(),
  chains: z.array(z.strictObject({ chain_id: z.string(), events: z.number().int(), head: z.string() })),
  verdicts: z.number().int(),
  key_ring: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

/** A bundle as text, before anything in it is believed. */
export interface Bundle {
  manifest: string;
  keyRing: string;
  events: string[];
  verdicts: string[];
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

const FILES = {
  manifest: 'manifest.json',
  keyRing: 'keyring.json',
  events: 'events.jsonl',
  verdicts: 'verdicts.jsonl',
};

/** Makes a bundle of one session; events sorted by chain and seq, all verdicts including the baseline. */
export function makeBundle(
  sessionId: string,
  events: readonly TraceEvent[],
  verdicts: readonly Verdict[],
  ring: KeyRing,
): Bundle {
  return atOnce(makingBundle(sessionId, events, verdicts, ring));
}

/** `makeBundle` in steps, for a session that may be large. */
export function* makingBundle(
  sessionId: string,
  events: readonly TraceEvent[],
  verdicts: readonly Verdict[],
  ring: KeyRing,
): Steps<Bundle> {
  const sorted = events.toSorted(
    (a, b) => compare(a.chain_id, b.chain_id) || a.seq - b.seq || Number(a.fork) - Number(b.fork),
  );
  const chains = Map.groupBy(sorted, (event) => event.chain_id);
  const keyRing = canonical(ring);
  const manifest: Manifest = {
    bundle: 1,
    session_id: sessionId,
    chains: [...chains].map(([chain_id, own]) => ({
      chain_id,
      events: own.length,
      // Where a chain forked at its end, the fork is no part of it.
      head: headerHash(own.findLast(({ fork }) => fork === null) ?? own.at(-1) ?? {}),
    })),
    verdicts: verdicts.length,
    key_ring: sha256(keyRing),
  };
  return {
    manifest: canonical(manifest),
    keyRing,
    events: yield* mapping(sorted, 'events put in', (event) => canonical(event)),
    verdicts: verdicts
      .toSorted((a, b) => compare(a.verdict_id, b.verdict_id))
      .map((verdict) => canonical(verdict)),
  };
}

/** The bundle as files of a folder, by name. */
export function bundleFiles(bundle: Bundle): Record<string, string> {
  return {
    [FILES.manifest]: `${bundle.manifest}\n`,
    [FILES.keyRing]: `${bundle.keyRing}\n`,
    [FILES.events]: lines(bundle.events),
    [FILES.verdicts]: lines(bundle.verdicts),
  };
}

/** The bundle as one JSON Lines file: manifest, key ring, verdicts, events. */
export function bundleText(bundle: Bundle): string {
  return lines([bundle.manifest, bundle.keyRing, ...bundle.verdicts, ...bundle.events]);
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}

/**
 * Reads a bundle, a folder or one file, of plain files alone: it comes from others, and neither is a named pipe waited
 * for nor a symbolic link in a folder followed out of it.
 * @throws FlipstreamError `bundle_unreadable` (usage) when it is not there or is not a bundle at all.
 */
export function readBundle(path: string): Bundle {
  const named = told(path, 'it', () => statSync(path));
  // a link there is the caller's own word, and followed
  if (!named.isDirectory())
    return parseOneFile(
      told(path, 'it', () => bytesOf(path, named)),
      path,
    );
  const read = (name: string) => {
    const file = join(path, name);
    return split(told(path, name, () => bytesOf(file, lstatSync(file), constants.O_NOFOLLOW)));
  };
  return {
    manifest: only(read(FILES.manifest)),
    keyRing: only(read(FILES.keyRing)),
    events: read(FILES.events),
    verdicts: read(FILES.verdicts),
  };
}

/**
 * @param before of the file: what is no plain one is not even opened, which does something to some devices
 * @param flags of `open` beyond the one that keeps it from waiting for a pipe that took the file's place since
 */
function bytesOf(file: string, before: Stats, flags = 0): Buffer {
  refuseUnlessPlain(before);
  const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags);
  try {
    refuseUnlessPlain(fstatSync(opened));
    return readFileSync(opened);
  } finally {
    closeSync(opened);
  }
}

function refuseUnlessPlain(stats: Stats): void {
  if (stats.isSymbolicLink()) throw new Error('it is a symbolic link and no plain file');
  if (!stats.isFile()) throw new Error('it is no plain file');
}

/** @param name what could not be read at `path`, in the sentence that says so */
function told<T>(path: string, name: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) throw unreadable(path, `${name} does not exist`, cause);
    throw unreadable(path, `${name} cannot be read (${messageOf(cause)})`, cause);
  }
}

/** Parses the one-file form. @throws FlipstreamError `bundle_unreadable` (usage). */
export function parseOneFile(bytes: Buffer, path: string): Bundle {
  const [manifest = '', keyRing, ...rest] = split(bytes);
  if (!manifest.includes('"bundle":') || keyRing === undefined)
    throw unreadable(path, 'its first two lines are not a manifest and a key ring');
  // Verdicts come first and alone carry an oracle_seq; a line that is neither is left for the check to refuse.
  const firstEvent = rest.findIndex((line) => !line.includes('"oracle_seq":'));
  const cut = firstEvent < 0 ? rest.length : firstEvent;
  return { manifest, keyRing, verdicts: rest.slice(0, cut), events: rest.slice(cut) };
}

/**
 * Lines of a file. One without its end, or that is no UTF-8 and would be read as replacement characters, gets
 * a NUL, so that the check refuses that line and says which.
 */
function split(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start);
    const line = bytes.subarray(start, end < 0 ? bytes.length : end);
    lines.push(`${UTF8.decode(line)}${end < 0 || !isUtf8(line) ? '\u0000' : ''}`);
    start += line.length + 1;
  }
  return lines;
}

function only(lines: readonly string[]): string {
  return lines.length === 1 ? (lines[0] ?? '') : `${lines.join('\n')}\u0000`;
}

function unreadable(path: string, why: string, cause?: unknown): FlipstreamError {
  const message = `${path} is not a bundle of flipstream session export: ${why}.`;
  return new FlipstreamError('bundle_unreadable', 'usage', message, cause);
}
