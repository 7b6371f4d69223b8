/** R1 and R3 on the real trajectories that lie beside the repository; a user's clone has none. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { saltedDigest } from '../../schemas/hash.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { prepare } from '../../streams/redact/scan.ts';

const REAL = new URL('../../../shared/data/', import.meta.url);
const missing = !existsSync(REAL);
if (missing) console.warn('skipped: ../shared/data is not beside this clone');

test.skipIf(missing)(
  'R1 damage on real trajectories is 0: nothing replaced, nothing withheld, in text or JSON',
  async () => {
    const files = readdirSync(REAL, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(5);
    const events = files.flatMap((entry) => {
      const text = readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8');
      const pieces = Array.from({ length: Math.ceil(text.length / 4000) }, (_, n) =>
        text.slice(n * 4000, (n + 1) * 4000),
      );
      return [text, ...pieces].map((piece) => {
        const salt = '00'.repeat(16);
        const content = piece.toWellFormed();
        return {
          value: {
            ...blankEvent(),
            salt,
            output_redacted: content,
            output_digest: saltedDigest(salt, content),
          },
        };
      });
    });
    const found = await prepare(events);
    expect(found.filter((result) => result.found !== 'nothing')).toEqual([]);
  },
);
