/**
 * An agent of the same user that edits what lies on its own host between two stops: hooks as `init` registers them, run
 * by their commands, a real collector, and an oracle that notes what it is asked. The control edits nothing.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { sandbox } from '../cli/testing.ts';
import { startCollector } from '../producers/collector/collector.ts';
import { ask, memoryLog } from '../producers/collector/testing.ts';
import { repository } from '../producers/git/testing.ts';
import { type Home, layout } from '../producers/home.ts';
import { BLOCK_REASON } from '../schemas/block-reason.ts';
import { ran, standInOracle } from './support/hook-host.ts';

const Settings = z.looseObject({
  hooks: z
    .record(z.string(), z.array(z.object({ hooks: z.array(z.looseObject({ command: z.string() })) })))
    .optional(),
});
const Asked = z.looseObject({ task_id: z.string(), base_commit: z.string(), diff: z.string() });

/** What an agent can reach: it runs as the user whose files these are. */
interface Reach {
  settings: string;
  home: Home;
  /** Stops the collector, changes its memory of the session, and starts it again. */
  inCollector(sql: string): Promise<void>;
}

const gateFiles = (home: Home) =>
  readdirSync(join(home.root, 'gate')).map((name) => join(home.root, 'gate', name));
const edit =
  (change: object) =>
  ({ home }: Reach) => {
    const [file = ''] = gateFiles(home);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
  };
const HELD = { held: true, asked: 2 };
/** Nobody asks, so nobody answers: no PASS, and so no flip. */
const FREE = { held: false, asked: 1 };

const ACTS: [
  name: string,
  act: (reach: Reach) => void | Promise<void>,
  second: { held: boolean; asked: number },
][] = [
  ['nothing', () => {}, HELD],
  [
    'what the gate keeps of the session removed',
    ({ home }) => rmSync(join(home.root, 'gate'), { recursive: true }),
    HELD,
  ],
  [
    'what the gate keeps edited to another task and base',
    edit({ task_id: 'easy', base_commit: 'e'.repeat(40) }),
    HELD,
  ],
  ['what the gate keeps edited to no task', edit({ task_id: null }), FREE],
  [
    'the collector\u2019s count of attempts set back',
    ({ inCollector }) => inCollector(`update sessions set core = json_set(core, '$.gate.fails', -9)`),
    HELD,
  ],
  [
    'the collector made to believe that it flipped',
    ({ inCollector }) =>
      inCollector(`update sessions set core = json_set(core, '$.gate.flipped', json('true'))`),
    FREE,
  ],
  ['the hooks removed from the settings', ({ settings }) => writeFileSync(settings, '{}'), FREE],
];

test.each(ACTS)(
  'between two stops, %s: no PASS comes of it, and the fix passes where it is asked about',
  async (_, act, second) => {
    const box = sandbox();
    onTestFinished(box.remove);
    const { dir, base } = repository(box.root);
    mkdirSync(join(dir, '.flipstream'));
    writeFileSync(
      join(dir, '.flipstream', 'config.json'),
      JSON.stringify({ task_id: 't', base_commit: base }),
    );
    const settings = join(box.root, 'settings.json');
    expect((await box.flipstream(['init', 'claude-code', '--settings', settings, '--yes'])).code).toBe(0);
    const { asked, url } = await standInOracle(['FAIL', ...Array(second.asked - 1).fill('FAIL'), 'PASS']);
    const home = layout(join(box.root, 'home'));
    writeFileSync(home.config, '{"v":1}'); // no hook is to start a collector of its own
    const log = memoryLog();
    const start = () =>
      startCollector({
        home,
        log,
        clock: Date.now,
        settings: { v: 1, oracle: { url, token: 't' } },
        warn: () => {},
      });
    let collector = await start();
    onTestFinished(() => collector.stop());
    const inCollector = async (sql: string) => {
      await ask(home, '/drain', {});
      await collector.stop();
      const db = new DatabaseSync(home.collectorDb);
      expect(db.prepare(sql).run().changes).toBe(1);
      db.close();
      collector = await start();
    };

    /** As the harness does: whatever the settings say now. */
    const event = async (hook_event_name: string, fields: object = {}) => {
      const { hooks = {} } = Settings.parse(JSON.parse(readFileSync(settings, 'utf8')));
      const lines = (hooks[hook_event_name] ?? []).flatMap((group) =>
        group.hooks.map(({ command }) => command),
      );
      const payload = { session_id: 's1', cwd: dir, hook_event_name, transcript_path: '/t', ...fields };
      const said: string[] = [];
      for (const line of lines) said.push(await ran(['/bin/sh', '-c', line], payload, dir, box.env));
      return said.join('');
    };
    const stop = async (change: string) => {
      writeFileSync(join(dir, 'a.txt'), change);
      return (await event('Stop', { stop_hook_active: false, last_assistant_message: change })).includes(
        BLOCK_REASON,
      );
    };

    await event('SessionStart', { source: 'startup', model: 'm' });
    await event('UserPromptSubmit', { prompt: 'fix it' });
    expect(await stop('wrong')).toBe(true);
    await act({ settings, home, inCollector });
    expect({ held: await stop('wrong still'), asked: asked.length }).toEqual(second);
    const third = await stop('right');
    await event('SessionEnd', { reason: 'other' });
    await ask(home, '/drain', {});

    expect(third).toBe(false);
    const claimed = log.events.filter(({ type }) => type === 'oracle_verdict').map(({ verdict }) => verdict);
    expect(claimed).toEqual(second.held ? ['FAIL', 'FAIL', 'PASS'] : ['FAIL']);
    // Whatever was edited, what is asked about is the task and the base that the session began with, and the real diff.
    const questions = asked.map((body) => Asked.parse(JSON.parse(body)));
    expect(questions.map(({ task_id, base_commit }) => [task_id, base_commit])).toEqual(
      questions.map(() => ['t', base]),
    );
    if (second.held) expect(Buffer.from(questions[2]?.diff ?? '', 'base64').toString()).toContain('+right');
  },
  60_000,
);
