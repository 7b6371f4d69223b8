import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ACL_ROLES } from '../log/kafka/setup/acls.ts';
import { compose, PROFILES, servicesOf } from './support/compose.ts';
import { KAFKA_IMAGE } from './support/kafka-broker-means.ts';

const at = (path: string) => new URL(`../${path}`, import.meta.url);
const read = (path: string) => readFileSync(at(path), 'utf8');

describe.each(PROFILES)('docker-compose.yml, profile %s', (profile) => {
  const services = servicesOf(profile);

  test('everything that a service names is there', () => {
    expect(services.size).toBeGreaterThan(6);
    for (const [name, service] of services) {
      for (const other of Object.keys(service.depends_on)) {
        expect(services.has(other), `${name} waits for ${other}`).toBe(true);
        if (service.depends_on[other]?.condition === 'service_healthy')
          expect(services.get(other)?.healthcheck, other).toBeDefined();
      }
      const shared = service.network_mode?.replace('service:', '');
      if (shared) expect(services.has(shared), `${name} shares with ${shared}`).toBe(true);
      for (const volume of service.volumes) {
        const [source = ''] = volume.replace(/\$\{[^}]*:-([^}]*)\}/, '$1').split(':');
        if (source === './state') continue;
        expect(source.startsWith('./') ? existsSync(at(source)) : source in compose.volumes, source).toBe(
          true,
        );
      }
      if (service.build) expect(existsSync(at(service.build.dockerfile))).toBe(true);
    }
  });

  test('no two services want one port of the machine', () => {
    const ports = [...services.values()].flatMap((one) => one.ports.map((port) => port.split(':').at(-2)));
    expect(new Set(ports).size).toBe(ports.length);
  });

  test('every process of ours works on Kafka and knows where', () => {
    const ours = [...services.values()].filter(({ image }) => image === 'flipstream');
    expect(ours.map(({ command }) => command?.join(' '))).toEqual(
      expect.arrayContaining([
        expect.stringContaining('kafka setup'),
        expect.stringContaining('--role sink'),
        expect.stringContaining('--role streams'),
      ]),
    );
    for (const { environment } of ours) {
      expect(environment).toMatchObject({ FLIPSTREAM_ENGINE: 'kafka', FLIPSTREAM_HOME: '/state' });
      for (const broker of environment.FLIPSTREAM_KAFKA_BROKERS?.split(',') ?? [''])
        expect(services.has(broker.split(':')[0] ?? '')).toBe(true);
      expect(services.has(new URL(environment.FLIPSTREAM_REGISTRY ?? '').hostname)).toBe(true);
    }
  });
});

test('production: three brokers, nobody but they on the network where nobody logs in, a user for every role', () => {
  const services = [...servicesOf('production')];
  const brokers = services
    .filter(([, { networks }]) => networks && 'brokers' in networks)
    .map(([name]) => name);
  expect(brokers).toEqual(['kafka-1', 'kafka-2', 'kafka-3']);
  expect(compose.networks.brokers).toEqual({ internal: true });
  const script = read('deploy/kafka/start-broker.sh');
  const users = /for name in ([a-z ]+);/.exec(script)?.[1]?.split(' ');
  expect(users).toEqual(['admin', ...ACL_ROLES]);
  for (const listener of ['INTERNAL', 'CONTROLLER'])
    expect(script).toMatch(new RegExp(`^listeners=.*${listener}://kafka-\\$\\{NODE_ID\\}\\.brokers:`, 'm'));
});

test('the brokers are of the version that everything else is tested on', () => {
  const images = Object.values(compose.services).map(({ image }) => image);
  const brokers = images.filter((image) => image.startsWith('apache/kafka:'));
  expect([brokers.length, new Set(brokers)]).toEqual([4, new Set([KAFKA_IMAGE])]);
});

test.each(['two words', ' blanks ', 'a,b', '"quoted"', 'back\\slash', 'é'])(
  'a password that Kafka would change or the registry misread is refused by the brokers: %s',
  (PASSWORD) => {
    const ran = spawnSync('bash', ['deploy/kafka/start-broker.sh'], {
      cwd: at('.'),
      env: { ...process.env, PASSWORD },
      encoding: 'utf8',
    });
    expect(ran).toMatchObject({ status: 1, stderr: expect.stringContaining('FLIPSTREAM_KAFKA_PASSWORD') });
  },
);
