/** The oracle's service at the size that issue 5 asks for; too long for every run of the tests. */
import { expect, test } from 'vitest';
import { askFromHosts } from '../../oracle/service/testing-hosts.ts';
import { killAtRandom } from '../../oracle/service/testing-kills.ts';

test('1,000 requests from 20 hosts at once: none lost, none answered for another', async () => {
  const waited = await askFromHosts({ hosts: 20, each: 50 });
  expect(waited).toHaveLength(1000);
  const at = (share: number) => Math.round(waited[Math.floor(share * (waited.length - 1))] ?? 0);
  console.info(
    `1,000 requests from 20 hosts, waited: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
  );
}, 120_000);

test('the service killed at 50 random moments: no answered verdict lost, none twice, the chain unbroken', async () => {
  await killAtRandom(50, 200);
}, 300_000);
