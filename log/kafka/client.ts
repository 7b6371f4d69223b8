import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import kafkajs, { type ISocketFactory, type Kafka, type SASLOptions } from 'kafkajs';
import Cluster from 'kafkajs/src/cluster/index.js';
import './kafkajs-repairs.ts';
import type { BrokerAccess } from './settings.ts';
import { unzstd } from './unpack.ts';

const { CompressionCodecs, CompressionTypes, logLevel } = kafkajs;

const compress = promisify(zstdCompress);

/** For kafkajs's own producer; it has none built in. */
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: ({ buffer }: { buffer: Buffer }) => compress(buffer),
  decompress: unzstd,
});

const CONNECT_MS = 5_000;
const REQUEST_MS = 30_000;
/** Whoever asks has a longer patience of its own, and tells what it waits for. */
const RETRY = { retries: 3, initialRetryTime: 50, maxRetryTime: 1_000 };
const READ_COMMITTED = 1;

/**
 * kafkajs leaves Nagle's algorithm on: small requests would wait for the acknowledgement of the last. A server name
 * that is an address is not allowed in TLS. Every request that waits in vain for a connection ends it once more, which
 * leaves a listener each time: nothing to be warned of.
 */
export const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const secured = typeof ssl === 'object' ? ssl : {};
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...secured }, onConnect)
    : connect({ host, port }, onConnect);
  return socket.setNoDelay(true).setKeepAlive(true, 60_000).setMaxListeners(0);
};

/** A client of the brokers. kafkajs's own log is off: what goes wrong comes back as an error. */
export function createClient({ brokers, sasl, tls }: BrokerAccess): Kafka {
  return new kafkajs.Kafka({
    brokers: [...brokers],
    clientId: 'flipstream',
    ssl: tls,
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    retry: RETRY,
    socketFactory,
    logLevel: logLevel.NOTHING,
    ...(sasl ? { sasl: saslOf(sasl) } : {}),
  });
}

/**
 * Connections of its own to every broker, for requests that kafkajs has no public call for. A broker answers
 * what comes over one connection in turn, so whoever waits there long needs one that nobody else uses.
 */
export function createCluster({ brokers, sasl, tls }: BrokerAccess): Cluster {
  const client = createClient({ brokers, sasl, tls });
  return new Cluster({
    logger: client.logger(),
    brokers: [...brokers],
    clientId: 'flipstream',
    socketFactory,
    ssl: tls,
    sasl: sasl ? saslOf(sasl) : undefined,
    connectionTimeout: CONNECT_MS,
    requestTimeout: REQUEST_MS,
    metadataMaxAge: 300_000,
    retry: RETRY,
    allowAutoTopicCreation: false,
    isolationLevel: READ_COMMITTED,
  });
}

function saslOf({ mechanism, username, password }: NonNullable<BrokerAccess['sasl']>): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    default:
      return { mechanism: 'scram-sha-512', username, password };
  }
}
