import type { Incoming } from '../log.ts';

/** What the conformance tests run in a thread: upper case, unless a text says to hang or to fail. */
export async function prepare(records: Incoming[]): Promise<string[]> {
  return records.map(({ value }) => {
    const text = 'text_redacted' in value ? (value.text_redacted ?? '') : '';
    if (text === 'throw') throw new Error('asked to fail');
    if (text === 'hang') new BroadcastChannel('flipstream prepare fixture').postMessage('hanging');
    while (text === 'hang') Math.sqrt(2);
    return text.toUpperCase();
  });
}
