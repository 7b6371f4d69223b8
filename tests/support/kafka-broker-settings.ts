/** Ports of one broker on loopback. */
export interface BrokerPlace {
  id: number;
  /** Of the client listener. */
  port: number;
  /** Of the listener between brokers, where nobody logs in. */
  internalPort: number;
  controllerPort: number;
}

export interface BrokerSettings {
  place: BrokerPlace;
  /** Of all brokers. */
  places: readonly BrokerPlace[];
  data: string;
  /** Clients log in with SCRAM-SHA-512, and nothing is allowed that no ACL allows. */
  secured: boolean;
  settings: Readonly<Record<string, string>>;
}

/** The broker's configuration file: KRaft, broker and controller in one, made small and quick for tests. */
export function serverProperties({ place, places, data, secured, settings }: BrokerSettings): string {
  const replicas = String(places.length);
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': String(place.id),
    'log.dirs': data,
    'controller.quorum.voters': places.map((one) => `${one.id}@127.0.0.1:${one.controllerPort}`).join(','),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INTERNAL',
    listeners: `CLIENT://127.0.0.1:${place.port},INTERNAL://127.0.0.1:${place.internalPort},CONTROLLER://127.0.0.1:${place.controllerPort}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${place.port},INTERNAL://127.0.0.1:${place.internalPort}`,
    'listener.security.protocol.map': `CLIENT:${secured ? 'SASL_PLAINTEXT' : 'PLAINTEXT'},INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT`,
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': places.length === 1 ? '1' : '2',
    'default.replication.factor': replicas,
    'min.insync.replicas': places.length === 1 ? '1' : '2',
    'offsets.topic.num.partitions': '4',
    'transaction.state.log.num.partitions': '4',
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '500',
    'auto.create.topics.enable': 'false',
    'log.cleaner.backoff.ms': '200',
    'log.cleaner.dedupe.buffer.size': '8388608',
    'message.max.bytes': '16777216',
    'replica.fetch.max.bytes': '16777216',
    'broker.session.timeout.ms': '4000',
    'num.partitions': '1',
    ...(secured
      ? {
          'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
          'listener.name.client.scram-sha-512.sasl.jaas.config':
            'org.apache.kafka.common.security.scram.ScramLoginModule required;',
          'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
          'super.users': 'User:ANONYMOUS',
        }
      : {}),
    ...settings,
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
