/** Something that sleeps until it is woken, or for so long. */
export interface Sleeper {
  wake(): void;
  /** Returns at once when it was woken since the last sleep. */
  sleep(ms: number): Promise<void>;
}

export function createSleeper(): Sleeper {
  let woken = false;
  let end: (() => void) | null = null;
  return {
    wake() {
      woken = true;
      end?.();
    },
    async sleep(ms) {
      if (!woken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        end = null;
      }
      woken = false;
    },
  };
}
