import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import type { Chains } from './chains.ts';
import type { FileFacts, Importer } from './importer.ts';
import { type Source, unharmed } from './open.ts';
import { recordsOf } from './records.ts';

interface FirstReading {
  importer: Importer;
  chains: Chains;
  /** The beginning of the file. */
  look: FileFacts['peek'];
  /** Told how many bytes were read; may throw to end it. */
  during: (bytes: number) => void;
}

/** What must be known of a file before its first record is told: a first reading, for documents. */
export async function factsOf(source: Source, reading: FirstReading): Promise<FileFacts> {
  const { importer, chains, look } = reading;
  const { format, about = [] } = importer;
  return {
    ...{ path: source.path, peek: look },
    ...(await contentOf(source, reading)),
    identify({ value, parts, index, name }) {
      const place = name === undefined ? `${source.real} ${index}` : `id ${name}`;
      const outline = chains.documents.outline(format, place, [], name);
      for (const part of parts) outline.element(null, Buffer.from(JSON.stringify(part)));
      return outline.end(sha256(JSON.stringify(value)));
    },
    isRepeated: (session, own) => chains.isRepeated(format, session, own),
    imported: (originalId) =>
      about.flatMap((other) =>
        chains.imported(other, originalId, dirname(source.path)).map((one) => ({ ...one, format: other })),
      ),
  };
}

async function contentOf(
  source: Source,
  { importer, chains, during }: FirstReading,
): Promise<Pick<FileFacts, 'sha256' | 'document' | 'root'>> {
  const { format, shape } = importer;
  const root: Record<string, unknown> = {};
  if (shape === 'lines') return { sha256: '', document: { id: '', grown: false }, root };
  const hash = createHash('sha256');
  let bytes = 0;
  const records = recordsOf(importer);
  const outline = chains.documents.outline(format, source.real, shape.split);
  for await (const chunk of unharmed(source)) {
    hash.update(chunk);
    bytes += chunk.length;
    during(Math.min(bytes, source.bytes));
    for (const { place, value, bytes: own, wrong } of records.feed(chunk)) {
      if (place.index !== null && own) outline.element(place.key, own);
      if (wrong !== null || place.key === null) continue;
      if (place.index === null) root[place.key] = value;
      else importer.survey?.(root, place.key, value);
    }
  }
  const whole = hash.digest('hex');
  const id = chains.transaction(() => outline.end(whole));
  return { sha256: whole, document: { id, grown: !whole.startsWith(id) }, root };
}
