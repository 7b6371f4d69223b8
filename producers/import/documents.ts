/**
 * Which session a document without an id of its own is. It is known by its content; one that has grown where it lay
 * (all that was imported of it is there, and more) keeps the id that it had. Neither place nor beginning alone would
 * do: a second run overwrites the first, and runs of one task begin alike.
 */
import { createHash, type Hash } from 'node:crypto';
import { z } from 'zod';
import type { Store } from '../collector/store.ts';

/** Of the arrays that are cut up, by field of the root ('' for a root that is an array): how long, and their hash. */
const Prints = z.record(z.string(), z.object({ count: z.number(), sha256: z.string() }));
type Prints = z.infer<typeof Prints>;

/** A document that is being read for the first time. */
export interface Outline {
  /** Told of each element of an array that is cut up. */
  element: (key: string | null, bytes: Buffer) => void;
  /** When all was read. Within a transaction. @param sha256 of all of it @returns its id */
  end: (sha256: string) => string;
}

export interface Documents {
  /** @param place the file, whichever way leads to it */
  outline: (format: string, place: string, fields: readonly string[]) => Outline;
}

export function createDocuments({ meta, putMeta }: Pick<Store, 'meta' | 'putMeta'>): Documents {
  const printsOf = (name: string): Prints => Prints.parse(JSON.parse(meta(name) ?? '{}'));

  return {
    outline(format, place, fields) {
      const at = `document at ${format} ${place}`;
      const before = meta(at);
      const known = before === null ? {} : printsOf(`document ${format} ${before}`);
      // the first of the fields that has elements is the one that grows
      const growing = ['', ...fields].find((name) => (known[name]?.count ?? 0) > 0);
      const arrays = new Map<string, { hash: Hash; count: number }>();
      let grown = false;

      function end(sha256: string): string {
        const content = `document content ${format} ${sha256}`;
        const same = meta(content);
        if (same !== null) {
          putMeta(at, same);
          return same;
        }
        const id = grown && before !== null ? before : sha256.slice(0, 32);
        const prints: Prints = {};
        for (const [name, { hash, count }] of arrays) prints[name] = { count, sha256: hash.digest('hex') };
        putMeta(content, id);
        putMeta(at, id);
        putMeta(`document ${format} ${id}`, JSON.stringify(prints));
        return id;
      }

      return {
        element(key, bytes) {
          const name = key ?? '';
          const array = arrays.get(name) ?? { hash: createHash('sha256'), count: 0 };
          arrays.set(name, array);
          array.hash.update(bytes).update('\n');
          array.count++;
          const then = name === growing ? known[name] : undefined;
          if (then?.count === array.count) grown = then.sha256 === array.hash.copy().digest('hex');
        },
        end,
      };
    },
  };
}
