/** Why hooks are not `async: true`: docs/decisions/0006-hooks-are-not-async.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent } from '../support/agent.ts';
import { killAfterCall, makeAsync, makeSlow } from '../support/kill-after-call.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  // what is in the spool is to stay there
  rig = await startRig({ roles: ['oracle'] });
});
afterAll(async () => rig?.close());

test('C7 everything dies the moment a tool result goes to the model: its events are in the spool', async () => {
  const agent = await createAgent(rig, 'waited-for');
  for (let kill = 0; kill < 3; kill++) expect((await killAfterCall(rig, agent)).lost).toEqual([]);
});

test('slow hooks are waited for and lose nothing; async ones lose events: the reason why they are not', async () => {
  const agent = await createAgent(rig, 'async');
  makeSlow(agent);
  expect((await killAfterCall(rig, agent)).lost).toEqual([]);
  makeAsync(agent);
  expect((await killAfterCall(rig, agent)).lost).not.toEqual([]);
});
