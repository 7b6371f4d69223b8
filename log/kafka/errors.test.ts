import { expect, test } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import { named } from './errors.ts';

/** As kafkajs throws it: what the broker said lies below what was done about it. */
function kafkas(name: string, type: string | null): Error {
  const said = Object.assign(new Error('said'), { name: `KafkaJS${name}` }, type === null ? {} : { type });
  return Object.assign(new Error('gave up', { cause: said }), { name: 'KafkaJSNumberOfRetriesExceeded' });
}

test.each([
  ['ProtocolError', 'UNSUPPORTED_VERSION', 'kafka_too_old', 'fatal', /older than 2\.3/],
  ['ServerDoesNotSupportApiKey', null, 'kafka_too_old', 'fatal', /older than 2\.3/],
  ['ProtocolError', 'SECURITY_DISABLED', 'kafka_no_rights', 'usage', /authorizer\.class\.name/],
  ['ProtocolError', 'MESSAGE_TOO_LARGE', 'kafka_size_refused', 'fatal', /flipstream kafka setup/],
  ['ProtocolError', 'RECORD_LIST_TOO_LARGE', 'kafka_size_refused', 'fatal', /flipstream kafka setup/],
  ['ProtocolError', 'TOPIC_AUTHORIZATION_FAILED', 'kafka_not_allowed', 'usage', /flipstream kafka acls/],
  ['SASLAuthenticationError', null, 'kafka_login_refused', 'usage', /user name or the password/],
  ['ProtocolError', 'INVALID_PRODUCER_EPOCH', 'fenced', 'retryable', /another process/],
  ['ConnectionError', null, 'kafka_unavailable', 'retryable', /^(?!.*again).*see that it runs/],
])('KafkaJS%s %s is %s (%s)', (name, type, code, kind, message) => {
  expect(named(kafkas(name, type), ['b:1'])).toMatchObject({
    code,
    kind,
    message: expect.stringMatching(message),
  });
});

test('what is not Kafka’s, or has its name already, passes through', () => {
  for (const error of [new Error('else'), new FlipstreamError('gap', 'fatal', 'a gap')])
    expect(named(error, ['b:1'])).toBe(error);
});
