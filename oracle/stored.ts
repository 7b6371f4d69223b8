/** Signed and public records as the oracle's database keeps them. */
import { canonical } from '../schemas/canonical.ts';
import { decoder } from '../schemas/codec.ts';
import { jsonReader } from '../schemas/from-json.ts';
import type { Records } from '../schemas/generated.ts';
import { parseJson } from '../schemas/parse-json.ts';

/** JSON, since Avro without its writer's schema could not be read by the release after this one. */
export function toStored(record: Records['Verdict' | 'Task']): Buffer {
  return Buffer.from(canonical(record));
}

/** Reads what `toStored` made, and the Avro of 0.1.0, which never begins with a brace. */
export function storedReader<N extends 'Verdict' | 'Task'>(name: N): (stored: Uint8Array) => Records[N] {
  const fromJson = jsonReader(name);
  const fromAvro = decoder(name);
  return (stored) => {
    const bytes = Buffer.from(stored);
    return bytes[0] === BRACE ? fromJson(parseJson(bytes.toString('utf8'))) : fromAvro(bytes);
  };
}

const BRACE = 0x7b;
