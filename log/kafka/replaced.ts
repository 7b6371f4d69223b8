import { FlipstreamError } from '../../schemas/errors.ts';
import type { Core } from './core.ts';

/** Notices that a topic which went away came back as another: its offsets would mean other records. */
export function createWatch({ catalog }: Core, fail: (error: unknown) => void) {
  const ids = new Map<string, string>();
  return {
    async remember(topics: readonly string[]): Promise<void> {
      for (const name of topics) ids.set(name, (await catalog.topic(name)).id);
    },
    check(name: string): void {
      catalog.idNow(name).then(
        (id) => {
          if (id !== null && id !== ids.get(name)) fail(replaced(name));
        },
        // The next time that it comes back it is asked again.
        () => undefined,
      );
    },
  };
}

function replaced(topic: string): FlipstreamError {
  return new FlipstreamError(
    'topic_replaced',
    'fatal',
    `${topic} was deleted and made anew while it was read: what was in it and had not been read is gone. Rebuild in a fresh home with flipstream replay`,
  );
}
