export interface GateOptions {
  /** Pieces of work that may be under way at once. */
  readonly atOnce: number;
  /** Pieces of work that may wait for their turn. */
  readonly waiting: number;
  /** Makes the error for those for whom there is no room. */
  readonly refusal: () => Error;
}

/** Lets a few pieces of work be under way at once; the others wait in order, up to a limit. */
export interface Gate {
  run<Value>(work: () => Promise<Value>): Promise<Value>;
}

/** Makes a gate that nobody has passed yet. */
export function createGate({ atOnce, waiting: maximum, refusal }: GateOptions): Gate {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  return {
    async run(work) {
      if (underWay < atOnce) underWay += 1;
      else {
        if (waiting.length >= maximum) throw refusal();
        // A task that ends hands its place over, so that none that comes later can take it.
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else underWay -= 1;
      }
    },
  };
}
