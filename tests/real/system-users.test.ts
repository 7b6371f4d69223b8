/** `init --system` and `up --system` with real users: what an agent's user can do with the home of the collector's. */
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { traceFile } from '../../producers/collector/trace-files.ts';
import { BLOCK_OUTPUT } from '../../producers/gate/gate.ts';
import { COLLECTOR, cli, type Machine, machine, type User } from '../support/system-users.ts';

const missing = process.platform === 'linux' && process.getuid?.() === 0 ? null : 'users need root, on Linux';
if (missing && process.env.CI) throw new Error(`CI may not skip this: ${missing}`);
if (missing) process.stderr.write(`system-users: skipped, ${missing}\n`);

const [AGENT, OTHER] = [61_002, 61_003];

/** Tries everything that no agent may do, and prints what it could. */
const THIEF = `
const fs = require('fs'), net = require('net'), path = require('path');
const [home, entry, own, trace, socket] = process.argv.slice(1);
const spool = path.join(home, 'spool', 'new');
const tries = {
  'list the spool': () => fs.readdirSync(spool),
  'read an entry': () => fs.readFileSync(entry),
  'add to an entry': () => fs.appendFileSync(entry, 'x'),
  'remove an entry': () => fs.unlinkSync(entry),
  'put its own in the place of an entry': () => fs.renameSync(own, entry),
  'list the traces': () => fs.readdirSync(path.join(home, 'traces')),
  'read a trace': () => fs.readFileSync(trace),
  'add to a trace': () => fs.appendFileSync(trace, '{}'),
  'open the log': () => fs.readdirSync(path.join(home, 'log')),
  'open the tables': () => fs.readdirSync(path.join(home, 'warehouse')),
  'read the token': () => fs.readFileSync(path.join(home, 'config.json')),
  'open the database': () => fs.readFileSync(path.join(home, 'collector.db')),
  'change the key ring': () => fs.writeFileSync(path.join(home, 'keyring.json'), '{}'),
  'change its pin': () => fs.writeFileSync(path.join(home, 'config.json'), '{}'),
  'put another configuration there': () => fs.renameSync(own, path.join(home, 'config.json')),
  'change the hook': () => fs.appendFileSync(path.join(home, 'hook', 'hook.cjs'), ' '),
  'change the key': () => fs.writeFileSync(path.join(home, 'keys', 'hash.key'), 'x'),
  'record a dispatch': () => fs.writeFileSync(path.join(home, 'dispatch', 'x.json'), '{}'),
  'list what gates keep': () => fs.readdirSync(path.join(home, 'gate')),
  'pause capture': () => fs.writeFileSync(path.join(home, 'paused'), ''),
  'remove the socket': () => fs.unlinkSync(socket),
  'put another folder there': () => fs.renameSync(path.join(home, 'spool'), path.join(home, 'spool2')),
};
const done = Object.entries(tries).filter(([, run]) => { try { run(); return true; } catch { return false; } });
const server = net.createServer().on('error', () => console.log(JSON.stringify(done.map(([name]) => name))));
server.listen(socket, () => { console.log('"it answers as the collector"'); process.exit(); });
`;

const at = (session_id: string, cwd: string) => ({
  session_id,
  cwd,
  transcript_path: join(cwd, 'none.jsonl'),
  permission_mode: 'default',
});

async function rows(m: Machine, sql: string): Promise<unknown> {
  return JSON.parse(await cli(m.collector, 'sql', '--home', m.home.root, '--json', sql));
}

async function steal(m: Machine, who: User, entry: string, session: string): Promise<unknown> {
  const own = join(who.dir, 'own.json');
  writeFileSync(own, '{}');
  const said = await who.run([
    '-e',
    THIEF,
    m.home.root,
    join(m.home.spool, 'new', entry),
    own,
    traceFile(m.home, session),
    m.home.collectorSocket,
  ]);
  return JSON.parse(said.out);
}

test.skipIf(missing !== null)(
  'an agent of another user is graded and flips; no user reads, changes or takes the place of anything there',
  async () => {
    const m = await machine();
    const agent = m.user(AGENT, 'agent');
    const other = m.user(OTHER, 'other');
    let up = await m.asRoot.start(['up', '--system', '--home', m.home.root]);
    const clone = await m.clone(agent);
    const hook = (name: string, more: object = {}) =>
      m.hook(agent, clone, { ...at('s-flip', clone), hook_event_name: name, ...more });
    await hook('SessionStart', { source: 'startup', model: 'm' });
    await hook('UserPromptSubmit', { prompt: 'Fix it.' });
    const stop = { stop_hook_active: false, background_tasks: [] };
    expect(await hook('Stop', stop)).toBe(BLOCK_OUTPUT);
    const apply = `require('child_process').execFileSync('git', ['apply'], { input: ${JSON.stringify(m.fix)} })`;
    expect(await agent.run(['-e', apply], { cwd: clone })).toMatchObject({ code: 0 });
    expect(await hook('Stop', stop)).toBe('');
    await hook('SessionEnd', { reason: 'other' });
    await vi.waitFor(
      async () =>
        expect(
          await rows(m, "SELECT outcome, usable, marks FROM sessions WHERE session_id = 's-flip' AND ended"),
        ).toMatchObject([{ outcome: 'flipped', usable: true, marks: [] }]),
      { timeout: 120_000, interval: 2000 },
    );
    expect(await rows(m, 'SELECT DISTINCT capture FROM events')).toMatchObject([
      { capture: 'separate_user' },
    ]);
    for (const path of [m.home.collectorDb, m.home.traces, m.home.warehouse, m.home.log, m.home.keyRing])
      expect(statSync(path).uid, path).toBe(COLLECTOR.uid);
    expect(await cli(other, 'doctor', '--help')).toContain('doctor');

    up.kill('SIGTERM');
    await once(up, 'exit');
    await hook('UserPromptSubmit', { prompt: 'words of the agent' });
    const [entry = ''] = readdirSync(join(m.home.spool, 'new'));
    expect(await steal(m, other, entry, 's-flip')).toEqual([]);
    expect(readdirSync(join(m.home.spool, 'new'))).toEqual([entry]);
    // In another's session, as the collector's own user, and what no collector can read or move.
    await m.hook(other, '/', {
      ...at('s-flip', '/'),
      hook_event_name: 'UserPromptSubmit',
      prompt: 'words of the other',
    });
    await m.hook(m.collector, '/', {
      ...at('s-own', '/'),
      hook_event_name: 'UserPromptSubmit',
      prompt: 'own words',
    });
    const plant = `const fs = require('fs'); process.chdir(${JSON.stringify(join(m.home.spool, 'new'))});
      fs.mkdirSync('0-folder.json'); fs.symlinkSync('/etc/shadow', '1-link.json'); fs.writeFileSync('2-closed.json', '{}', { mode: 0o600 });
      require('child_process').execFileSync('mkfifo', ['3-pipe.json'])`;
    expect(await other.run(['-e', plant])).toMatchObject({ code: 0 });

    up = await m.asRoot.start(['up', '--system', '--home', m.home.root]);
    const prompts = "SELECT text_redacted AS said FROM events WHERE role = 'user' ORDER BY seq";
    await vi.waitFor(
      async () =>
        expect(await rows(m, prompts)).toMatchObject([{ said: 'Fix it.' }, { said: 'words of the agent' }]),
      { timeout: 120_000, interval: 2000 },
    );
    expect(await steal(m, other, 'none/none.json', 's-flip')).toEqual([]);
    expect(readdirSync(join(m.home.spool, 'new'))).toEqual(['0-folder.json']);
    expect(readdirSync(join(m.home.spool, 'bad'))).toHaveLength(5);
  },
);
