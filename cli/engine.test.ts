import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { layout } from '../producers/home.ts';
import { engineOf, givenEngine } from './engine.ts';

const root = mkdtempSync(join(tmpdir(), 'flipstream-engine-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = layout(root);
const written = (settings: object) => writeFileSync(home.config, JSON.stringify(settings));

test('without a word it is the file in the home', () => {
  expect(engineOf({ home, engine: givenEngine({}, {}) })).toEqual({ kind: 'embedded' });
});

test('flags win over the environment, and it over config.json', () => {
  written({
    engine: 'kafka',
    kafka: {
      brokers: ['file:1'],
      registry: 'http://file',
      tls: true,
      sasl: { mechanism: 'plain', username: 'f', password: 'p' },
    },
  });
  const env = { FLIPSTREAM_KAFKA_BROKERS: 'env:1, env:2', FLIPSTREAM_REGISTRY: 'http://env' };
  expect(engineOf({ home, engine: givenEngine(env, { registry: 'http://flag' }) })).toEqual({
    kind: 'kafka',
    kafka: {
      brokers: ['env:1', 'env:2'],
      registry: 'http://flag',
      tls: true,
      sasl: { mechanism: 'plain', username: 'f', password: 'p' },
    },
  });
  const login = { FLIPSTREAM_KAFKA_USERNAME: 'u', FLIPSTREAM_KAFKA_PASSWORD: 'secret' };
  expect(engineOf({ home, engine: givenEngine(login, {}) })).toMatchObject({
    kafka: { sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'secret' } },
  });
  const registryLogin = {
    FLIPSTREAM_KAFKA_SASL_MECHANISM: 'scram-sha-256',
    FLIPSTREAM_REGISTRY_USERNAME: 'r',
    FLIPSTREAM_REGISTRY_PASSWORD: 'hidden',
  };
  expect(engineOf({ home, engine: givenEngine({ ...login, ...registryLogin }, {}) })).toMatchObject({
    kafka: {
      sasl: { mechanism: 'scram-sha-256', username: 'u' },
      registry_auth: { username: 'r', password: 'hidden' },
    },
  });
  const unknown = { ...login, FLIPSTREAM_KAFKA_SASL_MECHANISM: 'gssapi' };
  expect(() => engineOf({ home, engine: givenEngine(unknown, {}) })).toThrow(/mechanism.*scram-sha-256/);
  expect(engineOf({ home, engine: givenEngine(env, { engine: 'embedded' }) })).toEqual({ kind: 'embedded' });
});

test.each([
  ['kafka', '', '', 'brokers'],
  ['kafka', 'here', 'http://r', 'host:port'],
  ['kafka', 'a:1', 'ftp://r', 'http'],
  ['pulsar', '', '', 'embedded or kafka'],
])(
  'what cannot be used is refused in one sentence that names it: %j %j %j',
  (engine, brokers, registry, named) => {
    written({});
    const env = {
      FLIPSTREAM_ENGINE: engine,
      FLIPSTREAM_KAFKA_BROKERS: brokers,
      FLIPSTREAM_REGISTRY: registry,
    };
    expect(() => engineOf({ home, engine: givenEngine(env, {}) })).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(named) }),
    );
  },
);
