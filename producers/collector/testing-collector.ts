/** A collector over a home and a log of its own, for the tests of this folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { type Home, layout } from '../home.ts';
import { type Collector, type CollectorOptions, startCollector } from './collector.ts';
import { ask, type MemoryLog, memoryLog, T0, temporaryHome } from './testing.ts';
import { traceFile } from './trace-files.ts';

const running = new Set<Collector>();
let remove = () => {};

/** Made anew for each test. */
export const world: { home: Home; log: MemoryLog; now: number } = {
  home: layout(''),
  log: memoryLog(),
  now: T0,
};
export const warn = vi.fn();

/** Call it once in a test file. */
export function aWorldForEachTest(): void {
  beforeEach(() => {
    ({ home: world.home, remove } = temporaryHome());
    world.log = memoryLog();
    world.now = T0 + 60_000;
    warn.mockClear();
  });
  afterEach(async () => {
    for (const one of running) await one.stop();
    running.clear();
    remove();
  });
}

export async function start(change: Partial<CollectorOptions> = {}): Promise<Collector> {
  const { home, log } = world;
  const tune = { scanMs: 20, retryMs: 5, maxRetryMs: 20, upkeepMs: 10, restMs: 1, ...change.tune };
  const clock = () => world.now;
  const collector = await startCollector({ home, log, clock, settings: { v: 1 }, warn, ...change, tune });
  running.add(collector);
  return collector;
}

export async function stop(collector: Collector): Promise<void> {
  running.delete(collector);
  await collector.stop();
}

export async function drained(): Promise<void> {
  expect(await ask(world.home, '/drain', {})).toEqual({ drained: true });
}

/** Published events by order in the chain, once each, with every link checked. */
export function chain(session = 's1'): TraceEvent[] {
  const ours = world.log.events.filter((event) => event.session_id === session).sort((a, b) => a.seq - b.seq);
  ours.forEach((event, index) => {
    const before = ours[index - 1];
    expect(event.seq).toBe(index);
    expect(event.prev).toBe(before ? headerHash(before) : null);
  });
  expect(new Set(ours.map((event) => event.event_id)).size).toBe(ours.length);
  return ours;
}

/** Lines of the trace file of s1. */
export function lines(): Partial<TraceEvent>[] {
  const text = readFileSync(traceFile(world.home, 's1'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export const waiting = () => readdirSync(join(world.home.spool, 'new'));
export const kinds = (events: TraceEvent[]) => events.map((event) => event.kind ?? event.type);
