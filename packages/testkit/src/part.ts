/** A part of the stack that can be taken away and brought back, at the same address. */
export interface Part {
  /** Ends it in order. Does nothing when it is away. */
  stop(): Promise<void>;
  /** Brings it back, with its data on disk. Does nothing when it is running. */
  start(): Promise<void>;
}

interface Stoppable {
  stop(): Promise<unknown>;
}

/**
 * Starts a part.
 *
 * @param launch starts it; from the second time on it is given the former one, whose port to take
 * @returns what the first launch gave, and the part to stop and start from then on
 */
export async function startPart<Running extends Stoppable>(
  launch: (former: Running | null) => Promise<Running>,
): Promise<{ readonly first: Running; readonly part: Part }> {
  const first = await launch(null);
  let latest = first;
  let isThere = true;
  const part: Part = {
    async stop() {
      if (!isThere) return;
      isThere = false;
      await latest.stop();
    },
    async start() {
      if (isThere) return;
      latest = await launch(latest);
      isThere = true;
    },
  };
  return { first, part };
}
