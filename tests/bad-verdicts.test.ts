/** Records that nobody but the oracle may make, put straight into a real log: what the warehouse says of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outgoing } from '../log/log.ts';
import type { TraceEvent, Verdict } from '../schemas/generated.ts';
import { createTestOracle, TASK } from '../streams/testing/oracle.ts';
import { beginSession, gradedSession, type TestSession } from '../streams/testing/session.ts';
import { createPipeline, type Pipeline } from './support/pipeline.ts';

const oracle = createTestOracle();
const stranger = createTestOracle();

/** One graded stop with its signed PASS taken out of the session's verdicts. */
function passed(sessionId: string, start: Partial<TraceEvent> = {}): { session: TestSession; pass: Verdict } {
  const session = gradedSession({ oracle, sessionId, answers: ['PASS'], start });
  const pass = session.verdicts.pop();
  if (!pass) throw new Error('no verdict');
  return { session, pass };
}

type Make = (pass: Verdict, session: TestSession) => Verdict | null;
const signed =
  (fields: Partial<Verdict>): Make =>
  (pass) =>
    oracle.sign({ ...pass, ...fields });

/** What is published in the place of the verdict, and the mark that the session must get. */
const CASES: Readonly<Record<string, readonly [make: Make, mark: string, start?: Partial<TraceEvent>]>> = {
  'forged: signed by a key of nobody, under the real key id': [
    (pass) => stranger.sign({ ...pass }),
    'rejected:bad_signature',
  ],
  'forged: under a key id that the ring does not hold': [
    (pass) => createTestOracle({ keyId: 'key-of-nobody' }).sign({ ...pass, key_id: 'key-of-nobody' }),
    'rejected:unknown_key',
  ],
  'altered: a FAIL made a PASS after signing': [
    (pass) => ({ ...oracle.sign({ ...pass, verdict: 'FAIL' }), verdict: 'PASS' }),
    'rejected:bad_signature',
  ],
  'altered: the head moved after signing': [
    (pass, { events }) => ({ ...pass, head: events.at(-1)?.prev ?? null }),
    'rejected:bad_signature',
  ],
  'for another task': [signed({ task_id: 'task-2' }), 'rejected:task_id'],
  'for another base commit': [signed({ base_commit: 'd'.repeat(40) }), 'rejected:base_commit'],
  'for another tests hash': [signed({ tests_hash: 'd'.repeat(64) }), 'rejected:baseline_tests_hash'],
  'for another image': [signed({ image: 'sha256:0' }), 'rejected:baseline_image'],
  'for another chain': [signed({ chain_id: 'home-2' }), 'rejected:chain'],
  'for another head': [signed({ head: 'e'.repeat(64) }), 'rejected:head'],
  'for another diff': [signed({ diff_hash: 'e'.repeat(64) }), 'rejected:diff_hash'],
  'that nobody asked for': [signed({ request_id: 'r-99' }), 'unsolicited'],
  'claims a runner that its key may not': [signed({ runner: 'container' }), 'rejected:runner_not_allowed'],
  'claims a placement that its key may not': [
    signed({ placement: 'separate_host' }),
    'rejected:placement_not_allowed',
  ],
  'a claim without a verdict': [() => null, 'unconfirmed'],
  'for the task asked about, in a session that began on another': [
    (pass) => pass,
    'rejected:task_id',
    { task_id: 'task-2' },
  ],
  'for the base asked about, in a session that began on another': [
    (pass) => pass,
    'rejected:base_commit',
    { base_commit: 'd'.repeat(40) },
  ],
  'in a session that began on a changed tree': [
    (pass) => pass,
    'rejected:inherited',
    { inherited: true, tree_hash: 'f'.repeat(64) },
  ],
};

const idOf = (name: string) => `s-${Object.keys(CASES).indexOf(name)}`;
let pipeline: Pipeline;

beforeAll(async () => {
  pipeline = await createPipeline({ ring: oracle.ring });
  pipeline.startStreams();
  await pipeline.startSink();
  const records: Outgoing[] = [];
  const put = ({ sessionId, events, verdicts }: TestSession, ...more: (Verdict | null)[]) => {
    for (const value of events) records.push({ topic: 'trace.raw', key: sessionId, value });
    for (const value of [...verdicts, ...more])
      if (value) records.push({ topic: 'oracle.verdicts', key: sessionId, value });
  };
  for (const [name, [make, , start]] of Object.entries(CASES)) {
    const { session, pass } = passed(idOf(name), start);
    put(session, make(pass, session));
  }
  const honest = passed('honest');
  put(honest.session, honest.pass);
  // Replayed: the honest session's own PASS, put under another session's key.
  const thief = beginSession({ sessionId: 'thief' });
  thief.verdicts.push(oracle.baseline(TASK));
  thief.ask(honest.pass.request_id ?? '');
  thief.end('flipped');
  put(thief, honest.pass);
  await pipeline.log.publish(records);
  await pipeline.settled();
});
afterAll(() => pipeline.close());

const sessionOf = (id: string) =>
  pipeline.sql(`SELECT outcome, attempts, usable, marks FROM sessions WHERE session_id = '${id}'`);
const flipsOf = (id: string) => pipeline.sql(`SELECT * FROM flips WHERE session_id = '${id}'`);

test('the honest session, through the same log, is a flip: what follows can fail', async () => {
  expect(await sessionOf('honest')).toEqual([{ outcome: 'flipped', attempts: 1, usable: true, marks: [] }]);
  expect(await flipsOf('honest')).toHaveLength(1);
});

describe('no flip, and the session is marked with the reason', () => {
  test.each(Object.entries(CASES))('%s', async (name, [, mark]) => {
    expect(await flipsOf(idOf(name))).toEqual([]);
    const [session] = await sessionOf(idOf(name));
    expect(session).toMatchObject({ outcome: 'ungraded', attempts: 0, usable: false });
    expect(session?.marks).toContain(mark);
    expect(await pipeline.unbroken(idOf(name))).not.toEqual([]);
  });

  test('replayed under another session', async () => {
    expect(await flipsOf('thief')).toEqual([]);
    const [session] = await sessionOf('thief');
    expect(session).toMatchObject({ outcome: 'ungraded', attempts: 0, usable: false });
    expect(session?.marks).toContain('rejected:session');
  });
});

test('what was put in stays visible: each bad record is a row of verdicts, and nothing went to the dead letters', async () => {
  const [{ n }] = (await pipeline.sql("SELECT count(*) AS n FROM verdicts WHERE mode = 'grade'")) as [
    { n: number },
  ];
  expect(n).toBe(Object.keys(CASES).length - 1 + 2);
  expect(await pipeline.sql('SELECT * FROM deadletter')).toEqual([]);
});
