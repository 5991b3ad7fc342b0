/** Requests that are under way, with a bound on those that answer late. */
export interface UnderWay {
  /** How many more may be started now. */
  room(): number;
  size(): number;
  /**
   * Runs a request. Its signal aborts when it has been cut off. `onEnd` is called when it is over.
   */
  run(request: (signal: AbortSignal) => Promise<void>, onEnd: () => void): void;
  /** Resolves when nothing is under way any more. */
  drained(): Promise<void>;
}

export interface UnderWayOptions {
  /** Requests at a time that have not been running for long. */
  readonly maximumQuick: number;
  /** Requests at a time that have. Beyond it the oldest are cut off. */
  readonly maximumSlow: number;
  /** Milliseconds after which a request counts as slow. */
  readonly slowAfterMs: number;
}

interface Running {
  readonly startedAt: number;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/** Why a request was cut off; the sender takes it for any other request that took too long. */
const cutOff = (): DOMException =>
  new DOMException('Cut off: too many slow requests are under way.', 'TimeoutError');

/**
 * Keeps slow requests from using up the room of the others. Any number of endpoints may hang at
 * once: what hangs leaves the room of the quick after a moment, and when there are too many of
 * them, the ones that have hung longest are given up. So there always is room for what answers.
 */
export function createUnderWay(options: UnderWayOptions): UnderWay {
  const { maximumQuick, maximumSlow, slowAfterMs } = options;
  /** In the order in which they began. */
  const running = new Set<Running>();

  const slowOnes = (): readonly Running[] => {
    const before = performance.now() - slowAfterMs;
    const slow: Running[] = [];
    for (const one of running) {
      if (one.startedAt > before) break;
      slow.push(one);
    }
    return slow;
  };
  return {
    room: () => {
      const slow = slowOnes();
      for (const { controller } of slow.slice(0, Math.max(0, slow.length - maximumSlow))) {
        controller.abort(cutOff());
      }
      const quick = running.size - slow.length;
      // What has been cut off still takes a moment, until its outcome is recorded.
      return Math.min(maximumQuick - quick, maximumQuick + maximumSlow - running.size);
    },
    size: () => running.size,
    run: (request, onEnd) => {
      const controller = new AbortController();
      const ended = request(controller.signal).finally(() => {
        running.delete(one);
        onEnd();
      });
      const one: Running = { startedAt: performance.now(), controller, ended };
      running.add(one);
    },
    drained: async () => {
      await Promise.all([...running].map(({ ended }) => ended));
    },
  };
}
