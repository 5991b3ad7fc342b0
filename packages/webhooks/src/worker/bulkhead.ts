import { RequestCut } from '../sending/sender.ts';

/** Requests that are under way, with a bound on those that answer late. */
export interface Bulkhead {
  /** The number of sends that may be started now. */
  room(): number;
  size(): number;
  /**
   * Runs a request of a group, such as those to one endpoint. Its signal aborts, with `RequestCut`,
   * when it has been cut off. `onEnd` is called when it is over.
   */
  run(group: string, request: (signal: AbortSignal) => Promise<void>, onEnd: () => void): void;
  /** Resolves when nothing is under way any more. */
  drained(): Promise<void>;
}

/** The bounds of a bulkhead. */
export interface BulkheadOptions {
  /** Requests at a time that have not been running for long. */
  readonly maximumQuick: number;
  /** Requests at a time that have. Beyond it the oldest are cut off. */
  readonly maximumSlow: number;
  /** Milliseconds after which a request counts as slow. */
  readonly slowAfterMs: number;
}

interface Running {
  readonly group: string;
  readonly startedAt: number;
  readonly controller: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Chooses the slow requests to give up: first those beside which an older one of their group goes
 * on. So requests that take their time, and would be answered, get on one by one however many
 * others hang.
 */
function chosen(slow: readonly Running[], count: number): readonly Running[] {
  const oldest = new Map<string, Running>();
  for (const one of slow) if (!oldest.has(one.group)) oldest.set(one.group, one);
  const others = slow.filter((one) => oldest.get(one.group) !== one);
  return [...others, ...oldest.values()].slice(0, count);
}

/**
 * Keeps slow requests from using up the room of the others. Any number of endpoints may hang at
 * once: a request that hangs leaves the room of the quick ones after a moment, and when there are
 * too many of them, some are given up, to be tried again. So there is always room for endpoints
 * that answer.
 */
export function createBulkhead(options: BulkheadOptions): Bulkhead {
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
      for (const { controller } of chosen(slow, Math.max(0, slow.length - maximumSlow))) {
        controller.abort(new RequestCut('Cut off: too many slow requests are under way.'));
      }
      const quick = running.size - slow.length;
      // A request that was cut off still takes a moment, until its outcome is recorded.
      return Math.min(maximumQuick - quick, maximumQuick + maximumSlow - running.size);
    },
    size: () => running.size,
    run: (group, request, onEnd) => {
      const controller = new AbortController();
      const ended = request(controller.signal).finally(() => {
        running.delete(one);
        onEnd();
      });
      const one: Running = { group, startedAt: performance.now(), controller, ended };
      running.add(one);
    },
    drained: async () => {
      await Promise.all([...running].map(({ ended }) => ended));
    },
  };
}
