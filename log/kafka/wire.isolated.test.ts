import type Cluster from 'kafkajs/src/cluster/index.js';
import { beforeEach, expect, test, vi } from 'vitest';
import { createCluster } from './client.ts';
import { createWire } from './wire.ts';

vi.mock('./client.ts');

const connect = vi.fn<Cluster['connect']>();
const disconnect = vi.fn<Cluster['disconnect']>();
beforeEach(() => {
  vi.resetAllMocks();
  vi.mocked(createCluster, { partial: true }).mockImplementation(() => ({
    connect,
    disconnect,
    addMultipleTargetTopics: async () => {},
    refreshMetadata: () => connect(),
  }));
  disconnect.mockResolvedValue();
});

const wireOf = () => createWire({ brokers: ['broker:9092'], sasl: undefined, tls: false });

test('what is asked of a closed wire connects to nobody', async () => {
  connect.mockResolvedValue();
  const wire = wireOf();
  await wire.ready();
  await wire.close();
  await wire.refresh();
  await expect(wire.ready()).rejects.toMatchObject({ code: 'kafka_unavailable' });
  expect(connect).toHaveBeenCalledTimes(1);
});

test('a connection that comes about after the end is ended too', async () => {
  const connecting = Promise.withResolvers<void>();
  connect.mockReturnValue(connecting.promise);
  const wire = wireOf();
  const ready = wire.ready();
  await wire.close();
  const before = disconnect.mock.calls.length;
  connecting.resolve();
  await ready;
  await vi.waitFor(() => expect(disconnect.mock.calls.length).toBeGreaterThan(before));
});
