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
interface Outline {
  /** Told of each element of an array that is cut up. */
  element: (key: string | null, bytes: Buffer) => void;
  /** When all was read. Within a transaction. @param sha256 of all of it @returns its id */
  end: (sha256: string) => string;
}

export interface Documents {
  /**
   * @param place the file, whichever way leads to it, or what else a document has to itself
   * @param fields the arrays that are cut up
   * @param name what a new document is to be called; a hash, when another is called so
   */
  outline: (format: string, place: string, fields: readonly string[], name?: string) => Outline;
}

export function createDocuments({ meta, putMeta }: Pick<Store, 'meta' | 'putMeta'>): Documents {
  const printsOf = (name: string): Prints => Prints.parse(JSON.parse(meta(name) ?? '{}'));

  return {
    outline(format, place, fields, name) {
      const at = `document at ${format} ${place}`;
      const before = meta(at);
      const known = before === null ? {} : printsOf(`document ${format} ${before}`);
      // the first of the fields that has elements is the one that grows
      const growing = ['', ...fields].find((field) => (known[field]?.count ?? 0) > 0);
      const arrays = new Map<string, { hash: Hash; count: number }>();
      let grown = false;

      function end(sha256: string): string {
        const content = `document content ${format} ${sha256}`;
        const same = meta(content);
        if (same !== null) {
          putMeta(at, same);
          return same;
        }
        const isFree = name !== undefined && meta(`document ${format} ${name}`) === null;
        const id = grown && before !== null ? before : isFree ? name : sha256.slice(0, 32);
        const prints: Prints = {};
        for (const [field, { hash, count }] of arrays) prints[field] = { count, sha256: hash.digest('hex') };
        putMeta(content, id);
        putMeta(at, id);
        putMeta(`document ${format} ${id}`, JSON.stringify(prints));
        return id;
      }

      return {
        element(key, bytes) {
          const field = key ?? '';
          const array = arrays.get(field) ?? { hash: createHash('sha256'), count: 0 };
          arrays.set(field, array);
          array.hash.update(bytes).update('\n');
          array.count++;
          const then = field === growing ? known[field] : undefined;
          if (then?.count === array.count) grown = then.sha256 === array.hash.copy().digest('hex');
        },
        end,
      };
    },
  };
}
