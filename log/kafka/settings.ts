import { z } from 'zod';

const Login = z.strictObject({ username: z.string().min(1), password: z.string() });

/** How to reach a Kafka cluster and its schema registry. */
export const KafkaSettings = z.strictObject({
  /** `host:port` of some of the brokers; the others are learnt from them. */
  brokers: z
    .array(z.string().regex(/^[^\s:]+:\d+$|^\[[0-9a-fA-F:]+\]:\d+$/, 'must be host:port'))
    .min(1, 'must name a broker'),
  /** Address of the schema registry. */
  registry: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }),
  registry_auth: Login.optional(),
  sasl: Login.extend({ mechanism: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']) }).optional(),
  /** Speak TLS to the brokers. A private authority's certificate goes into NODE_EXTRA_CA_CERTS. */
  tls: z.boolean().default(false),
});
export type KafkaSettings = z.infer<typeof KafkaSettings>;

/** What it takes to open connections to the brokers. */
export type BrokerAccess = Pick<KafkaSettings, 'brokers' | 'sasl' | 'tls'>;
