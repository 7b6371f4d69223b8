/**
 * What we use of kafkajs below its public interface: connections, metadata and requests by name. Its own consumer
 * and transactions are not used (docs/decisions tells why); the version is pinned for that reason.
 */

declare module 'kafkajs/src/cluster/index.js' {
  import type { ISocketFactory, Logger, PartitionMetadata, RetryOptions, SASLOptions } from 'kafkajs';

  interface Protocol<T> {
    request: { apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<unknown> };
    response: { decode: (body: Buffer) => Promise<T>; parse: (decoded: T) => Promise<T> };
    requestTimeout?: number;
  }

  interface Place {
    partition: number;
    offset: string;
    metadata?: string | null;
  }

  interface TopicPlaces {
    topic: string;
    partitions: Place[];
  }

  interface Identity {
    transactionalId: string;
    producerId: string;
    producerEpoch: number;
  }

  interface Broker {
    nodeId: number;
    versions: Readonly<Record<number, { minVersion: number; maxVersion: number }>> | null;
    connectionPool: { send<T>(protocol: Protocol<T>): Promise<T> };
    joinGroup(request: {
      groupId: string;
      sessionTimeout: number;
      rebalanceTimeout: number;
      memberId: string;
      groupProtocols: { name: string; metadata: Buffer }[];
    }): Promise<{
      generationId: number;
      leaderId: string;
      memberId: string;
      members: { memberId: string; memberMetadata: Buffer }[];
    }>;
    syncGroup(request: {
      groupId: string;
      generationId: number;
      memberId: string;
      groupAssignment: { memberId: string; memberAssignment: Buffer }[];
    }): Promise<{ memberAssignment: Buffer }>;
    heartbeat(request: { groupId: string; groupGenerationId: number; memberId: string }): Promise<unknown>;
    leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>;
    offsetCommit(request: {
      groupId: string;
      groupGenerationId: number;
      memberId: string;
      topics: TopicPlaces[];
    }): Promise<unknown>;
    offsetFetch(request: {
      groupId: string;
      topics: { topic: string; partitions: { partition: number }[] }[];
    }): Promise<{
      responses: {
        topic: string;
        partitions: { partition: number; offset: string; metadata: string | null }[];
      }[];
    }>;
    listOffsets(request: {
      isolationLevel: number;
      topics: { topic: string; partitions: { partition: number; timestamp: number }[] }[];
    }): Promise<{ responses: { topic: string; partitions: { partition: number; offset: string }[] }[] }>;
    initProducerId(request: {
      transactionalId: string;
      transactionTimeout: number;
    }): Promise<{ producerId: string; producerEpoch: number }>;
    addPartitionsToTxn(
      request: Identity & { topics: { topic: string; partitions: number[] }[] },
    ): Promise<unknown>;
    addOffsetsToTxn(request: Identity & { groupId: string }): Promise<unknown>;
    txnOffsetCommit(request: Identity & { groupId: string; topics: TopicPlaces[] }): Promise<unknown>;
    endTxn(request: Identity & { transactionResult: boolean }): Promise<unknown>;
    produce(
      request: Identity & {
        topicData: {
          topic: string;
          partitions: {
            partition: number;
            firstSequence: number;
            messages: { key: string; value: Buffer | null }[];
          }[];
        }[];
        acks: number;
        timeout: number;
        compression: number;
      },
    ): Promise<unknown>;
  }

  export default class Cluster {
    constructor(options: {
      logger: Logger;
      brokers: string[];
      clientId: string;
      socketFactory: ISocketFactory;
      ssl: boolean;
      sasl?: SASLOptions | undefined;
      connectionTimeout: number;
      requestTimeout: number;
      metadataMaxAge: number;
      retry: RetryOptions;
      allowAutoTopicCreation: boolean;
      isolationLevel: number;
    });
    readonly brokerPool: { readonly metadata: { clusterId: string; controllerId: number } | null };
    connect(): Promise<void>;
    disconnect(): Promise<void>;
    addMultipleTargetTopics(topics: string[]): Promise<void>;
    refreshMetadata(): Promise<void>;
    findBroker(node: { nodeId: number }): Promise<Broker>;
    findGroupCoordinator(group: { groupId: string; coordinatorType?: number }): Promise<Broker>;
    findTopicPartitionMetadata(topic: string): PartitionMetadata[];
  }
  export type { Broker, Protocol, TopicPlaces };
}

declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    writeBuffer(buffer: Buffer): this;
    readonly buffer: Buffer;
  }
}

declare module 'kafkajs/src/protocol/requests/apiKeys.js' {
  const apiKeys: Readonly<Record<string, number>>;
  export default apiKeys;
}

declare module 'kafkajs/src/protocol/requests/index.js' {
  const known: { requests: Readonly<Record<string, { versions: readonly string[] }>> };
  export default known;
}

declare module 'kafkajs/src/protocol/requests/fetch/v11/request.js' {
  export default function fetchRequest(options: {
    replicaId: number;
    maxWaitTime: number;
    minBytes: number;
    maxBytes: number;
    isolationLevel: number;
    topics: {
      topic: string;
      partitions: { partition: number; fetchOffset: string; maxBytes: number }[];
    }[];
  }): { apiKey: number; apiVersion: number; apiName: string; encode: () => Promise<unknown> };
}

declare module 'kafkajs/src/network/connection.js' {
  import type { Socket } from 'node:net';
  import type { ISocketFactory, Logger } from 'kafkajs';
  import type { Protocol } from 'kafkajs/src/cluster/index.js';

  export default class Connection {
    constructor(options: {
      host: string;
      port: number;
      logger: Logger;
      socketFactory: ISocketFactory;
      connectionTimeout: number;
      requestTimeout: number;
    });
    socket?: Socket;
    /** Of the answer that is being read. */
    chunks: Buffer[];
    bytesBuffered: number;
    bytesNeeded: number;
    isConnected(): boolean;
    connect(): Promise<boolean>;
    disconnect(): Promise<boolean>;
    send<T>(protocol: Protocol<T>): Promise<T>;
  }
}

declare module 'kafkajs/src/network/requestQueue/index.js' {
  export default class RequestQueue {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  }
}

declare module 'kafkajs/src/protocol/recordBatch/record/v0/index.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';
  export default function recordOf(record: {
    key: string | Buffer;
    value: string | Buffer;
    offsetDelta: number;
    timestampDelta: number;
  }): Encoder;
}

declare module 'kafkajs/src/protocol/recordBatch/v0/index.js' {
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  const batch: {
    RecordBatch(batch: {
      compression: number;
      firstOffset: number;
      firstTimestamp: number;
      maxTimestamp: number;
      lastOffsetDelta: number;
      transactional: boolean;
      producerId: number;
      producerEpoch: number;
      firstSequence: number;
      records: Encoder[];
    }): Promise<Encoder>;
  };
  export default batch;
}
