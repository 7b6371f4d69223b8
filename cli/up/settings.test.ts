import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { sandbox } from '../testing.ts';
import { partEnvironment, upSettings } from './settings.ts';

function homeWith(settings: object) {
  const box = sandbox();
  onTestFinished(() => box.remove());
  const home = layout(`${box.root}/home`);
  mkdirSync(dirname(home.config), { recursive: true });
  writeFileSync(home.config, JSON.stringify({ v: 1, ...settings }));
  return home;
}

test('flags win over the environment, and it over config.json', () => {
  const home = homeWith({ metrics_port: 1, bucket_ms: 10 });
  const env = { FLIPSTREAM_METRICS_PORT: '2', FLIPSTREAM_BUCKET_MS: '' };
  expect(upSettings({}, {}, home)).toEqual({ metricsPort: 1, bucketMs: 10 });
  expect(upSettings({}, env, home)).toEqual({ metricsPort: 2, bucketMs: 10 });
  expect(upSettings({ metricsPort: 3, bucketMs: 30 }, env, home)).toEqual({ metricsPort: 3, bucketMs: 30 });
  expect(upSettings({}, {}, homeWith({}))).toEqual({});
});

test('a part that runs alone takes its own flags and environment; of several none takes the port of all', () => {
  const env = { PATH: '/bin', FLIPSTREAM_METRICS_PORT: '2', FLIPSTREAM_BUCKET_MS: '5', FLIPSTREAM_HOME: 'h' };
  expect(upSettings({}, env, null)).toEqual({ metricsPort: 2, bucketMs: 5 });
  expect(partEnvironment(env)).toEqual({ PATH: '/bin', FLIPSTREAM_HOME: 'h' });
});

test('what is no port is told by the name of the variable', () => {
  expect(() => upSettings({}, { FLIPSTREAM_METRICS_PORT: 'high' }, null)).toThrow(
    /environment: FLIPSTREAM_METRICS_PORT must be a port/,
  );
});
