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

const LED = { partitionErrorCode: 0, partitionId: 0, leader: 7, replicas: [7], isr: [7] };
const wireOf = () => createWire({ brokers: ['broker:9092'], sasl: undefined, tls: false });

test('whoever asks for topics that others have just begun to watch waits with them until their leaders are known', async () => {
  connect.mockResolvedValue();
  const targets = new Set<string>();
  let leaders: string[] = [];
  const answers: (() => void)[] = [];
  let asking: Promise<void> | null = null;
  // As in kafkajs: whoever asks while another is asking gets that one's answer.
  const refreshMetadata = () => {
    asking ??= new Promise<void>((resolve) => {
      const asked = [...targets];
      answers.push(() => {
        leaders = asked;
        asking = null;
        resolve();
      });
    });
    return asking;
  };
  vi.mocked(createCluster, { partial: true }).mockImplementation(() => ({
    connect,
    disconnect,
    refreshMetadata,
    addMultipleTargetTopics: async (topics) => {
      const before = targets.size;
      for (const topic of topics) targets.add(topic);
      if (targets.size > before) await refreshMetadata();
    },
    findTopicPartitionMetadata: (topic) => (leaders.includes(topic) ? [LED] : []),
  }));
  const wire = wireOf();
  await wire.ready();
  let over = false;
  const found = Promise.all(
    ['a', 'a', 'b', 'a'].map(async (topic) => {
      await wire.watch([topic]);
      return wire.leaderOf(topic, 0);
    }),
  ).finally(() => {
    over = true;
  });
  await vi.waitFor(() => {
    answers.shift()?.();
    expect(over).toBe(true);
  });
  await expect(found).resolves.toEqual([7, 7, 7, 7]);
});

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
