import { expect, test } from 'vitest';
import { encode } from '../schemas/codec.ts';
import { jsonReader } from '../schemas/from-json.ts';
import { storedReader, toStored } from './stored.ts';

const value = jsonReader('Verdict')({
  ...{ v: 1, verdict_id: 'v', session_id: 's', attempt: 1, task_id: 't', mode: 'grade', verdict: 'PASS' },
  ...{ base_commit: 'b', tests_hash: 'h', runner: 'process', placement: 'same_host', evidence: 'in_process' },
  ...{ oracle_host: 'o', oracle_version: '0', released_at: '2026-01-01T00:00:00.000Z', key_id: 'k' },
  ...{ oracle_seq: 0, signature: 's' },
});
const read = storedReader('Verdict');

test('what is stored is read back, also by a release that knows more fields, and from the Avro of 0.1.0', () => {
  expect(read(toStored(value))).toEqual(value);
  expect(read(encode('Verdict', value))).toEqual(value);
  // A field that came later is not there, and null.
  const { retracts: _, ...earlier } = JSON.parse(toStored(value).toString('utf8'));
  expect(read(Buffer.from(JSON.stringify(earlier)))).toMatchObject({ verdict_id: 'v', retracts: null });
});
