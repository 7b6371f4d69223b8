/** The oracle behind TLS with a certificate of its own authority; `openssl` makes one. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startOracle } from '../../oracle/main.ts';
import { createToken } from '../../oracle/service/tokens.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import {
  fakeRunner,
  gradeRequest,
  makeOracle,
  makeRepository,
  taskDirectory,
  temporaryDirectory,
} from '../../oracle/testing.ts';
import { oracleAt } from '../../producers/collector/grader.ts';

function certificate(): { cert: string; key: string } {
  const dir = temporaryDirectory();
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ];
  execFileSync('openssl', [...made, ...names, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert, key };
}

test('a grade over TLS; an authority that is not known, or plain HTTP, gets no answer', async () => {
  const runner = fakeRunner();
  const oracle = makeOracle({ runner });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  const tls = certificate();
  const logger = pino({ level: 'silent' });
  const service = await startOracle({ home: oracle.home, runner, tls, log: null, bucketMs: 5, logger });
  onTestFinished(() => service.stop());
  expect(service.url).toMatch(/^https:/);
  const token = createToken(oracle, 'host');
  const ask = (url: string, ca?: string) =>
    oracleAt({ url, token, ca }, () => {})(gradeRequest(row, 'good'), 20_000);
  expect(await ask(service.url, tls.cert)).toEqual({ answer: 'PASS', reached: true });
  expect(await ask(service.url)).toEqual({ answer: 'ERROR', reached: false });
  expect(await ask(service.url, certificate().cert)).toEqual({ answer: 'ERROR', reached: false });
  expect(await ask(service.url.replace('https', 'http'))).toEqual({ answer: 'ERROR', reached: false });
});
