import { test } from 'vitest';
import { survivesKills } from '../support/kills.ts';

test('P1 P3 a hundred kills under a load of 20,000 events', async () => {
  await survivesKills({ events: 20_000, kills: 100, graded: 6, pauseMs: 1500 });
});
