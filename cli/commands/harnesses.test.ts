import { expect, test } from 'vitest';
import { CAPABILITIES, HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { sandbox } from '../testing.ts';

test('what each harness tells, as a table with its notes, and as it is in JSON', async () => {
  const box = sandbox();
  const shown = await box.flipstream(['harnesses']);
  expect(shown).toMatchObject({ code: 0, err: '' });
  const [head = '', , tested = '', ...rows] = shown.out.split('\n');
  const cells = (line: string) => line.trim().split(/ {2,}/);
  expect(cells(head)).toEqual(HARNESS_CAPABILITIES.map(({ harness }) => harness));
  expect(cells(tested)).toContain('2.1.332');
  CAPABILITIES.forEach((name, n) => {
    const given = HARNESS_CAPABILITIES.map(({ gives }) => (gives[name] === 'no' ? '-' : gives[name]));
    expect(cells(rows[n] ?? '')).toEqual([name.replaceAll('_', ' '), ...given]);
  });
  expect(shown.out).toContain('codex, tool failure: a failed command is told like any other');
  expect((await box.flipstream(['harnesses', '--json'])).json()).toEqual(HARNESS_CAPABILITIES);
  box.remove();
});
