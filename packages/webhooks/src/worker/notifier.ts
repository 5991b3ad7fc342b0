/** Lets a loop sleep until there is something to do, or for a while, whichever is shorter. */
export interface Notifier {
  /** Ends the sleep, or keeps the next one from beginning. */
  notify(): void;
  /** Sleeps at most some milliseconds. Ends at once when the signal aborts. Never rejects. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Makes a notifier for one loop. */
export function createNotifier(): Notifier {
  let isDue = false;
  let end = (): void => undefined;
  return {
    notify: () => {
      isDue = true;
      end();
    },
    wait: async (milliseconds, signal) => {
      if (!isDue && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, milliseconds);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
          signal.addEventListener('abort', end, { once: true });
        });
        signal.removeEventListener('abort', end);
        end = () => undefined;
      }
      isDue = false;
    },
  };
}
