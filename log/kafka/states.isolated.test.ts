import { expect, test, vi } from 'vitest';
import { boundsOf } from './offsets.ts';
import { createStates } from './states.ts';
import type { Wire } from './wire.ts';

vi.mock('./offsets.ts');

test('who leads the changelog is asked anew when whoever led it says that another does', async () => {
  const refresh = vi.fn<Wire['refresh']>().mockResolvedValue();
  const make = vi.fn<() => Wire>();
  vi.mocked(make, { partial: true }).mockReturnValue({ refresh });
  const states = createStates(make(), 'count.state', 0);
  const moved = new Error('This server is not the leader for that topic-partition');
  vi.mocked(boundsOf).mockRejectedValueOnce(moved);
  await expect(states.catchUp()).rejects.toBe(moved);
  expect(refresh).toHaveBeenCalledOnce();
  vi.mocked(boundsOf).mockResolvedValueOnce({ earliest: 0, end: 0 });
  await states.catchUp();
  expect(refresh).toHaveBeenCalledOnce();
  states.close();
});
