/** The bytes of a record that was set aside: as its letter keeps them sealed, or as they still lie in the source topic. */
import type { Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import type { Unseal } from '../unseal.ts';
import type { Letter } from './letters.ts';

/** @throws FlipstreamError `letter_bytes_gone` (fatal) when they can be had from neither place. */
export async function originalBytes(log: Log, letter: Letter, unseal: Unseal | null): Promise<Buffer> {
  const bytes = (await fromLetter(log, letter, unseal)) ?? (await fromSource(log, letter));
  if (bytes && sha256(bytes) === letter.value_hash) return bytes;
  const sealed = letter.kept && !unseal;
  throw new FlipstreamError(
    'letter_bytes_gone',
    'fatal',
    `${letter.id}: its bytes are no longer in ${letter.source_topic}, and ${
      sealed
        ? 'those in the dead letter are sealed to the reviewer: give the private key with --identity'
        : 'none that fit its hash were kept in the dead letter'
    }.`,
  );
}

async function fromLetter(log: Log, { kept }: Letter, unseal: Unseal | null): Promise<Buffer | null> {
  if (!kept || !unseal) return null;
  const { records } = await log.read('deadletter', kept.partition, kept.offset, 1);
  const content = records[0]?.value.content;
  return content ? unseal(Buffer.from(content)) : null;
}

async function fromSource(log: Log, letter: Letter): Promise<Buffer | null> {
  const { source_topic, source_partition, source_offset } = letter;
  if (source_offset < 0) return null;
  return (await log.bytesAt(source_topic, source_partition, source_offset))?.value ?? null;
}
