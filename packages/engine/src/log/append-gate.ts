/** The appends that may be under way at once in this process. */
export interface AppendGateLimits {
  /** Appends that may be under way whatever their size. */
  readonly appends: number;
  /** Bytes up to which more appends than that may be under way. */
  readonly bytes: number;
}

/** The right to have one append under way. */
export interface AppendPass {
  /** Gives the place back; only the first call counts. */
  leave(): void;
}

/** Lets appends through to the client, a bounded number at a time. */
export interface AppendGate {
  /** Takes a place that is free; null when it has to be waited for. */
  tryEnter(bytes: number): AppendPass | null;
  /** Waits for a place. Rejects with the signal's reason when it aborts first. */
  enter(bytes: number, signal: AbortSignal): Promise<AppendPass>;
  /** Closes, waits until no append is inside, does the work, and opens again. */
  whileEmpty(work: () => Promise<void>): Promise<void>;
  /** Closes while the work is done; the appends inside stay there. */
  whileShut(work: () => Promise<void>): Promise<void>;
}

/**
 * The appends of a process under way: a few of any size, and more while all of them fit into the memory that
 * grpc-js keeps for a call that it may have to send again (1 MiB).
 */
export const clientLimits: AppendGateLimits = { appends: 15, bytes: 512 * 1024 };

interface Waiting {
  readonly bytes: number;
  readonly admit: () => void;
}

/** Makes an open gate with nothing under way. */
export function createAppendGate({ appends, bytes: bytesMaximum }: AppendGateLimits): AppendGate {
  const waiting = new Set<Waiting>();
  let emptied: (() => void)[] = [];
  let inside = 0;
  let bytesInside = 0;
  let shut = 0;

  const hasRoom = (bytes: number): boolean =>
    shut === 0 && (inside < appends || bytesInside + bytes <= bytesMaximum);
  const admitWaiting = (): void => {
    for (const next of waiting) {
      // In order of arrival: a large append is not overtaken for ever by small ones.
      if (!hasRoom(next.bytes)) return;
      waiting.delete(next);
      next.admit();
    }
  };
  const issuePass = (bytes: number): AppendPass => {
    inside += 1;
    bytesInside += bytes;
    let left = false;
    return {
      leave: () => {
        if (left) return;
        left = true;
        inside -= 1;
        bytesInside -= bytes;
        if (inside === 0) for (const resolve of emptied.splice(0)) resolve();
        admitWaiting();
      },
    };
  };
  const whileShut = async (work: () => Promise<void>): Promise<void> => {
    shut += 1;
    try {
      await work();
    } finally {
      shut -= 1;
      admitWaiting();
    }
  };
  const untilEmpty = (): Promise<void> => {
    if (inside === 0) return Promise.resolve();
    return new Promise((resolve) => {
      emptied = [...emptied, resolve];
    });
  };

  const tryEnter = (bytes: number): AppendPass | null =>
    waiting.size === 0 && hasRoom(bytes) ? issuePass(bytes) : null;

  return {
    tryEnter,
    enter: (bytes, signal) => {
      signal.throwIfAborted();
      const pass = tryEnter(bytes);
      if (pass) return Promise.resolve(pass);
      return new Promise((resolve, reject) => {
        const admit = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve(issuePass(bytes));
        };
        const entry: Waiting = { bytes, admit };
        const giveUp = (): void => {
          waiting.delete(entry);
          reject(signal.reason);
          // The one behind may be small enough for the room that this one did not fit into.
          admitWaiting();
        };
        waiting.add(entry);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
    whileShut,
    whileEmpty: (work) =>
      whileShut(async () => {
        await untilEmpty();
        await work();
      }),
  };
}
