import { FlipstreamError, messageOf } from '../../schemas/errors.ts';

/** Another process holds what this one believed to hold: nothing of ours was committed. */
const FENCED = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_PRODUCER_ID_MAPPING',
  'UNKNOWN_MEMBER_ID',
  'ILLEGAL_GENERATION',
  'REBALANCE_IN_PROGRESS',
  'FENCED_INSTANCE_ID',
]);

/** Codes that kafkajs 2.2.4 has no name for. */
const UNNAMED: Readonly<Record<string, string>> = {
  'Unknown error code 90': 'PRODUCER_FENCED',
  'Unknown error code 103': 'UNKNOWN_TOPIC_ID',
};

/** The protocol's own name of an error, or of what lies under kafkajs's wrapping. */
export function kafkaCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const named = UNNAMED[at.message];
    if (named) return named;
    if ('type' in at && typeof at.type === 'string') return at.type;
  }
  return null;
}

/** What brokers or kafkajs said, as an error to act on. Anything else passes through. */
export function named(error: unknown, brokers: readonly string[]): unknown {
  if (error instanceof FlipstreamError || !isKafkas(error)) return error;
  const code = kafkaCode(error);
  const where = brokers.join(', ');
  const why = messageOf(error);
  if (code !== null && FENCED.has(code))
    return new FlipstreamError(
      'fenced',
      'retryable',
      'the partition was taken over by another process; nothing was committed',
      error,
    );
  if (code?.endsWith('_AUTHORIZATION_FAILED')) return notAllowed(why, brokers, error);
  if (code === 'SASL_AUTHENTICATION_FAILED' || hasName(error, 'KafkaJSSASLAuthenticationError'))
    return new FlipstreamError(
      'kafka_login_refused',
      'usage',
      `Kafka at ${where} refuses the user name or the password (${why})`,
      error,
    );
  if (code === 'SECURITY_DISABLED')
    return new FlipstreamError(
      'kafka_no_rights',
      'usage',
      `the brokers at ${where} keep no rights: set authorizer.class.name on them first (${why})`,
      error,
    );
  if (isSizeRefused(error)) return sizeRefused(brokers, error);
  if (code === 'UNSUPPORTED_VERSION' || hasName(error, 'KafkaJSServerDoesNotSupportApiKey'))
    return new FlipstreamError(
      'kafka_too_old',
      'fatal',
      `Kafka at ${where} is older than 2.3, the oldest that is spoken to (${why})`,
      error,
    );
  return unavailable(why, brokers, error);
}

/** Whether a broker has said that a batch is larger than its topic takes. */
export function isSizeRefused(error: unknown): boolean {
  const code = kafkaCode(error);
  return code === 'MESSAGE_TOO_LARGE' || code === 'RECORD_LIST_TOO_LARGE';
}

export function sizeRefused(brokers: readonly string[], cause?: unknown): FlipstreamError {
  return new FlipstreamError(
    'kafka_size_refused',
    'fatal',
    `a topic of Kafka at ${brokers.join(', ')} takes only smaller records than we write: run flipstream kafka setup, which raises max.message.bytes`,
    cause,
  );
}

/** Said by commands, which end with it, and by services, which go on: it promises no other try. */
export function unavailable(why: string, brokers: readonly string[], cause?: unknown): FlipstreamError {
  return new FlipstreamError(
    'kafka_unavailable',
    'retryable',
    `Kafka at ${brokers.join(', ')} did not do it (${why}): see that it runs and can be reached from here`,
    cause,
  );
}

function isKafkas(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at.name.startsWith('KafkaJS')) return true;
  return false;
}

export function notAllowed(what: string, brokers: readonly string[], cause?: unknown): FlipstreamError {
  return new FlipstreamError(
    'kafka_not_allowed',
    'usage',
    `Kafka at ${brokers.join(', ')} does not allow this user what it tries (${what}): flipstream kafka acls prints what each role needs`,
    cause,
  );
}

function hasName(error: unknown, name: string): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at.name === name) return true;
  return false;
}
