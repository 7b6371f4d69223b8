import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { createFigures } from './figures.ts';
import { type MetricsEndpoint, startMetrics } from './metrics-endpoint.ts';
import { caughtUp, event, newPlace, openLog, type Place } from './sink/testing.ts';
import { type Sink, startSink } from './sink.ts';

let place: Place;
let log: EmbeddedLog;
let sink: Sink;
let metrics: MetricsEndpoint;
beforeEach(async () => {
  place = newPlace();
  log = await openLog(place);
  sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
  const figures = createFigures({ part: 'sink', log, sink, warehouse: place.warehouse });
  metrics = await startMetrics({ text: figures.text, port: 0 });
});
afterEach(async () => {
  await metrics.close();
  await sink.stop();
  await log.close();
  place.remove();
});

test('counts, lag, landed rows and delays are there, each scrape anew and none added twice', async () => {
  await log.publish(Array.from({ length: 30 }, (_, i) => event('s', i)));
  await caughtUp(log, place, 'sink');
  await sink.flush();
  const scrapes = await Promise.all([1, 2, 3].map(async () => (await fetch(metrics.url)).text()));
  for (const text of scrapes) {
    expect(text).toContain('flipstream_published_total{topic="trace.events",part="sink"} 30\n');
    expect(text).toContain('flipstream_sink_rows_total{table="events",part="sink"} 30\n');
    expect(text).toContain('flipstream_warehouse_rows{table="events",part="sink"} 30\n');
    expect(text).toMatch(
      /flipstream_lag_records\{group="sink",topic="trace.events",partition="\d",part="sink"\} 0\n/,
    );
    expect(text).toContain('flipstream_landing_delay_seconds_count{part="sink"} 30\n');
    expect(text).toMatch(/flipstream_published_bytes_total\{topic="trace.events",part="sink"\} [1-9]\d{3}/);
    expect(text).toContain('flipstream_fenced_total{part="sink"} 0\n');
    expect(text).toMatch(/flipstream_end_to_end_delay_seconds\{quantile="0.99",part="sink"\} \d/);
    expect(text).toContain('flipstream_flips{state="standing",part="sink"} 0\n');
  }
});

test('a session that was imported long after it was recorded is no delay', async () => {
  const ts = new Date(Date.now() - 50).toISOString();
  const old = { capture: 'imported', ts: '2019-01-01T00:00:00.000Z' };
  await log.publish([event('own', 0, { ts }), ...[0, 1, 2].map((i) => event('import:x:1', i, old))]);
  await caughtUp(log, place, 'sink');
  await sink.flush();
  const text = await (await fetch(metrics.url)).text();
  const seconds = /flipstream_end_to_end_delay_seconds\{quantile="0.5",part="sink"\} (\S+)/.exec(text)?.[1];
  expect(Number(seconds)).toBeLessThan(300);
});

test('listens on loopback only, answers nothing but GET /metrics, and names a taken port', async () => {
  const { hostname, port } = new URL(metrics.url);
  expect(hostname).toBe('127.0.0.1');
  expect((await fetch(new URL('/', metrics.url))).status).toBe(404);
  expect((await fetch(metrics.url, { method: 'POST' })).status).toBe(404);
  await expect(startMetrics({ text: async () => '', port: Number(port) })).rejects.toMatchObject({
    code: 'metrics_port',
  });
});

test('a part that lands nothing tells of the log alone', async () => {
  const streams = await createFigures({ part: 'streams', log }).text();
  expect(streams).toContain('flipstream_transaction_failures_total{part="streams"} 0\n');
  expect(streams).not.toMatch(/flipstream_(warehouse_rows|landing_delay)\S*\{/);
  await caughtUp(log, place, 'sink');
  expect(await createFigures({ part: 'streams', log }).text()).toContain('flipstream_lag_records{');
  expect(await createFigures({ part: 'collector', log }).text()).not.toContain('flipstream_lag_records{');
});
