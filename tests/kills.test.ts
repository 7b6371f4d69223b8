import { test } from 'vitest';
import { survivesKills } from './support/kills.ts';

test('P1 P3 collector, streams, sink and oracle killed at random moments: each event once, chains unbroken, flips right', async () => {
  await survivesKills({ events: 20_000, kills: 5, graded: 1, pauseMs: 1500 });
}, 400_000);
