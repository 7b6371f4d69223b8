import { EventEmitter } from 'node:events';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { layout } from '../home.ts';
import type { startHttpThread } from './http-thread.ts';

let startThread: typeof startHttpThread;
/** What the threads do that are started next. */
const next: ((thread: EventEmitter) => void)[] = [];
let started = 0;

class Thread extends EventEmitter {
  alive = true;

  constructor() {
    super();
    started += 1;
    this.once('exit', () => {
      this.alive = false;
    });
    const does = next.shift();
    setImmediate(() => does?.(this));
  }

  postMessage(): void {
    if (this.alive) this.emit('exit', 0);
  }

  async terminate(): Promise<void> {}
}

beforeAll(async () => {
  vi.resetModules();
  vi.doMock('node:worker_threads', () => ({ Worker: Thread }));
  ({ startHttpThread: startThread } = await import('./http-thread.ts'));
});
afterAll(() => {
  vi.doUnmock('node:worker_threads');
  vi.resetModules();
});

const asked = { port: 0, token: 't', hashKey: Buffer.alloc(0), limit: 1, capture: 'same_user' as const };
const start = () => startThread({ ...asked, home: layout('/nowhere') }, () => {});
const listens = (thread: EventEmitter) => void thread.emit('message', { port: 7 });
const dies = (thread: EventEmitter) => {
  thread.emit('error', new Error('out of memory'));
  thread.emit('exit', 1);
};

test('a collector that stops just after its thread has died stops', async () => {
  let kill = () => {};
  next.push((thread) => {
    listens(thread);
    kill = () => dies(thread);
  });
  const http = await start();
  kill();
  await http.close();
});

test('a thread that dies as it starts is started again', async () => {
  let kill = () => {};
  next.push((thread) => {
    listens(thread);
    kill = () => dies(thread);
  });
  next.push(dies, dies, listens);
  const before = started;
  const http = await start();
  kill();
  await expect.poll(() => started - before, { timeout: 4000 }).toBe(4);
  await http.close();
});
