/** How `up` asks a part for its live numbers, and how a part answers. */
import type { ChildProcess } from 'node:child_process';
import { AskFigures, PartMessage, tell } from './messages.ts';

/** Shorter than Prometheus waits for a scrape. */
const PATIENCE_MS = 5000;

let asked = 0;

/** @returns null when the part ends, fails at it, or takes five seconds */
export function askFigures(child: ChildProcess): Promise<string | null> {
  asked += 1;
  const mine = asked;
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const listen = (said: unknown) => {
    const { data } = PartMessage.safeParse(said);
    if (data && 'figures' in data && data.asked === mine) resolve(data.figures);
  };
  const none = () => resolve(null);
  const timer = setTimeout(none, PATIENCE_MS);
  child.on('message', listen);
  child.once('exit', none);
  if (child.connected) child.send({ asked: mine }, (error) => error && none());
  else none();
  return promise.finally(() => {
    clearTimeout(timer);
    child.off('message', listen);
    child.off('exit', none);
  });
}

/** The part's side: answers whoever asks over the channel. */
export function answerFigures(text: () => Promise<string>): void {
  process.on('message', (said) => {
    const { data } = AskFigures.safeParse(said);
    if (!data) return;
    text().then(
      (figures) => tell({ figures, asked: data.asked }),
      () => tell({ figures: null, asked: data.asked }),
    );
  });
}
