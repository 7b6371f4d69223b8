/** Alerts and dashboard ask for figures by name and label: for what a scrape really has. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { REDUCER_GROUPS } from '../cli/kafka/cluster.ts';
import { createFigures } from '../consumers/figures.ts';
import { mergeFigures } from '../consumers/merge-figures.ts';
import { caughtUp, event, newPlace, openLog } from '../consumers/sink/testing.ts';
import { startSink } from '../consumers/sink.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');

const Rule = z.looseObject({
  alert: z.string(),
  expr: z.string(),
  annotations: z.object({ summary: z.string() }),
});
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(Rule) })) });
const rules = Rules.parse(parse(read('deploy/prometheus/alerts.yml'))).groups.flatMap((group) => group.rules);
const Board = z.object({
  panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
});
const panels = readdirSync(new URL('../deploy/grafana/dashboards', import.meta.url)).flatMap((file) =>
  Board.parse(JSON.parse(read(`deploy/grafana/dashboards/${file}`))).panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }): [string, string] => [title, expr]),
  ),
);
const Scrapes = z.object({
  scrape_configs: z.array(
    z.object({
      job_name: z.string(),
      static_configs: z.array(z.object({ labels: z.record(z.string(), z.string()) })),
    }),
  ),
});
const jobs = Scrapes.parse(parse(read('deploy/prometheus/prometheus.yml'))).scrape_configs;

type Labels = Record<string, string>;

/** Every series that Prometheus has, by name: what the endpoint answers, and its own `up` for each target. */
const series = new Map<string, Labels[]>();

beforeAll(async () => {
  const place = newPlace();
  const log = await openLog(place);
  const sink = await startSink({ log, warehouse: place.warehouse, clock: Date.now, flushMs: 5 });
  await log.publish([event('s', 0, { ts: new Date().toISOString() })]);
  await caughtUp(log, place, 'sink');
  await sink.flush();
  const lag = async () => [
    ...(await log.lag()),
    ...REDUCER_GROUPS.map((group) => ({ group, topic: 'trace.raw', partition: 0, committed: 1, end: 2 })),
  ];
  const counters = () => ({
    ...log.counters(),
    consumed: { 'trace.raw': 1 },
    bytesConsumed: { 'trace.raw': 1 },
  });
  const figures = createFigures({
    part: 'sink',
    log: { ...log, lag, counters },
    sink,
    warehouse: place.warehouse,
  });
  const streams = createFigures({ part: 'streams', log: { ...log, lag, counters } });
  const text = mergeFigures({ sink: await figures.text(), streams: await streams.text(), oracle: null });
  await sink.stop();
  await log.close();
  place.remove();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm))
    series.set(name, [
      ...(series.get(name) ?? []),
      { ...matchersOf(labels), job: 'flipstream', instance: 'i' },
    ]);
  series.set(
    'up',
    jobs.flatMap((job) =>
      job.static_configs.map(({ labels }) => ({ ...labels, job: job.job_name, instance: 'i' })),
    ),
  );
});
afterAll(() => series.clear());

function matchersOf(text: string): Labels {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
  );
}

interface Selector {
  name: string;
  labels: Labels;
}

/** What an expression selects: names with what their labels must be. */
function selectorsOf(expr: string): Selector[] {
  return [...expr.matchAll(/\b(up|flipstream_\w+)(?:\{([^}]*)\})?/g)].map(([, name = '', labels = '']) => ({
    name,
    labels: matchersOf(labels),
  }));
}

/** Labels that an alert's text may name: what is grouped by, what `absent` was asked for, else those of the series. */
function labelsLeft(expr: string): string[] {
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].map(([, labels = '']) => labels.split(/, */));
  if (grouped.length > 0) return grouped.flat();
  if (/\bsum\(/.test(expr)) return [];
  const named = selectorsOf(expr).map(({ name, labels }) =>
    Object.keys(expr.includes('absent(') ? labels : (series.get(name)?.[0] ?? {})),
  );
  return named.reduce((both, labels) => both.filter((label) => labels.includes(label)));
}

test.each([...rules.map(({ alert, expr }): [string, string] => [alert, expr]), ...panels])(
  '%s selects series that there are, by labels that they have',
  (_name, expr) => {
    const selectors = selectorsOf(expr);
    expect(selectors.length).toBeGreaterThan(0);
    for (const { name, labels } of selectors) {
      expect(series.get(name) ?? [], `${name} of ${expr}`).toContainEqual(expect.objectContaining(labels));
      for (const [, grouped = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
        for (const label of grouped.split(/, */))
          expect(Object.keys(series.get(name)?.[0] ?? {}), `${label} of ${name}`).toContain(label);
    }
  },
);

test.each(rules)('what $alert says names labels that are left', ({ expr, annotations }) => {
  const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
  for (const label of named) expect(labelsLeft(expr)).toContain(label);
});
