export interface BatchQueueOptions {
  /** Items that may wait; at this many the source is asked to pause. */
  readonly capacity: number;
  readonly pauseSource: () => void;
  readonly resumeSource: () => void;
}

/** Carries items from a source that pushes to one consumer that takes batches. */
export interface BatchQueue<Item> {
  push(item: Item): void;
  /** Ends the queue after the items in it; the error is thrown once they have been taken. */
  finish(error?: Error): void;
  /** Drops the waiting items and ends. */
  abandon(): void;
  /**
   * All waiting items, at least one and at most `maximum`; waits for the first. Null at the end. One
   * call at a time.
   */
  take(maximum: number): Promise<readonly Item[] | null>;
}

/**
 * A bounded queue between a stream of events and a loop. The consumer is woken once per turn of
 * the event loop, so that everything that arrived together is one batch and the cost of a promise
 * is paid per batch, not per event.
 */
export function createBatchQueue<Item>(options: BatchQueueOptions): BatchQueue<Item> {
  const { capacity, pauseSource, resumeSource } = options;
  let items: Item[] = [];
  let ended = false;
  let failure: Error | undefined;
  let paused = false;
  let wake: (() => void) | null = null;

  const wakeConsumer = (): void => {
    if (!wake) return;
    setImmediate(wake);
    wake = null;
  };
  const arrival = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  const removeFirst = (maximum: number): readonly Item[] => {
    if (items.length > maximum) return items.splice(0, maximum);
    const all = items;
    items = [];
    return all;
  };
  const giveRoom = (): void => {
    // Half empty, not one free place: the source does not have to stop and start for every batch.
    if (!paused || ended || items.length > capacity / 2) return;
    paused = false;
    resumeSource();
  };

  return {
    push: (item) => {
      if (ended) return;
      items.push(item);
      if (!paused && items.length >= capacity) {
        paused = true;
        pauseSource();
      }
      wakeConsumer();
    },
    finish: (error) => {
      if (ended) return;
      ended = true;
      failure = error;
      wakeConsumer();
    },
    abandon: () => {
      ended = true;
      failure = undefined;
      items = [];
      wakeConsumer();
    },
    take: async (maximum) => {
      while (items.length === 0) {
        if (ended && failure) throw failure;
        if (ended) return null;
        await arrival();
      }
      const batch = removeFirst(maximum);
      giveRoom();
      return batch;
    },
  };
}
