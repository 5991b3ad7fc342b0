/** The position up to which events are on disk, and the callers that wait for it to advance. */

/** The position of the last durable event, and the callers that wait for the next. */
export interface DurableWatch {
  /** Position of the last durable event, or 0. */
  position(): number;
  /** Moves the position and wakes all that watch the log or one of these streams. */
  advance(position: number, streamNames: Iterable<string>): void;
  /** Calls `wake` whenever any event becomes durable; returns the function that stops it. */
  watchAll(wake: () => void): () => void;
  /** Calls `wake` whenever an event of this stream becomes durable. */
  watchStream(streamName: string, wake: () => void): () => void;
}

/** Creates a watch that starts at a durable position. */
export function createDurableWatch(start: number): DurableWatch {
  let durable = start;
  const everyone = new Set<() => void>();
  const byStream = new Map<string, Set<() => void>>();
  return {
    position: () => durable,
    advance: (position, streamNames) => {
      durable = position;
      for (const wake of everyone) wake();
      if (byStream.size === 0) return;
      for (const name of streamNames) {
        for (const wake of byStream.get(name) ?? []) wake();
      }
    },
    watchAll: (wake) => {
      everyone.add(wake);
      return () => everyone.delete(wake);
    },
    watchStream: (streamName, wake) => {
      const watchers = byStream.get(streamName) ?? new Set();
      byStream.set(streamName, watchers);
      watchers.add(wake);
      return () => {
        watchers.delete(wake);
        if (watchers.size === 0) byStream.delete(streamName);
      };
    },
  };
}
