/** What `up` and the parts that it started tell each other, over the channel between them. */
import { z } from 'zod';
import { FlipstreamError } from '../../schemas/errors.ts';

export const PartMessage = z.union([
  z.object({ ready: z.string() }),
  /** Answers `AskFigures`; null where they cannot be had now. */
  z.object({ figures: z.string().nullable(), asked: z.number() }),
  /** An error that another start would not mend. */
  z.object({
    failed: z.object({
      code: z.string(),
      kind: z.literal('usage').or(z.literal('fatal')),
      message: z.string(),
    }),
  }),
]);
type PartMessage = z.infer<typeof PartMessage>;

/** `up` asks a part for its live numbers; the answer bears the same number. */
export const AskFigures = z.object({ asked: z.number() });

/** Tells our `up`, and resolves when it has been told. Without one nothing happens. */
export function tell(message: PartMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send && process.connected) process.send(message, () => resolve());
    else resolve();
  });
}

/** The message about an error, or null for one that a new start may mend: an outage, a crash. */
export function failureOf(error: unknown): PartMessage | null {
  if (!(error instanceof FlipstreamError) || (error.kind !== 'usage' && error.kind !== 'fatal')) return null;
  return { failed: { code: error.code, kind: error.kind, message: error.message } };
}
