/** What a reducer's `prepare` runs in: a thread that can be ended when it hangs. Started by prepare.ts only. */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../schemas/errors.ts';

const port = parentPort;
if (port) {
  try {
    const { prepare } = await import(workerData.module);
    port.on('message', async ({ id, records }) => {
      try {
        port.postMessage({ id, ok: await prepare(records) });
      } catch (error) {
        // The name only: the text of an error may quote content.
        port.postMessage({ id, failed: error instanceof Error ? error.name : 'thrown value' });
      }
    });
    port.postMessage({ ready: typeof prepare === 'function' });
  } catch (error) {
    port.postMessage({ ready: false, why: messageOf(error) });
  }
}
