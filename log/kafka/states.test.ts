import { expect, test, vi } from 'vitest';
import { createStates } from './states.ts';
import type { Wire } from './wire.ts';

test('states that could not be stored leave nothing half done, and the next ones are', async () => {
  const wire = vi.fn<() => Wire>();
  vi.mocked(wire, { partial: true }).mockReturnValue({});
  const states = createStates(wire(), 'count.state', 0);
  states.store(new Map([['a', '1']]));
  const failing = new Map([['a', '2']]);
  vi.spyOn(failing, Symbol.iterator).mockImplementation(function* () {
    yield ['a', '2'];
    throw new Error('no space left');
  });
  expect(() => states.store(failing)).toThrow('no space left');
  expect(await states.load(['a'])).toEqual(new Map([['a', '1']]));
  states.store(new Map([['b', '3']]));
  expect(await states.load(['a', 'b'])).toEqual(
    new Map([
      ['a', '1'],
      ['b', '3'],
    ]),
  );
  states.close();
});
