/** A list of the parts that have been started. */
export interface Started {
  /** Remembers how to stop a thing, and gives it back. */
  add<Thing>(thing: Thing, stop: (thing: Thing) => unknown): Thing;
}

/**
 * Starts something that consists of parts. When one of them cannot be started, those before it are
 * stopped again and the failure is thrown. `stop` stops the parts, the last one first; one that
 * cannot be stopped does not keep the others running, and the first such failure is thrown at the end.
 * Later calls of `stop` wait for the first.
 */
export async function startParts<Running>(
  start: (started: Started) => Promise<Running>,
): Promise<Running & { stop(): Promise<void> }> {
  const stops: (() => unknown)[] = [];
  const started: Started = {
    add(thing, stop) {
      stops.push(() => stop(thing));
      return thing;
    },
  };
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopping ??= stopAll(stops.splice(0).reverse());
    return stopping;
  };
  try {
    return { ...(await start(started)), stop };
  } catch (error) {
    // The reason why it did not start says more than the failure to stop that follows from it.
    await stop().catch(() => undefined);
    throw error;
  }
}

async function stopAll(stops: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) {
    try {
      await stop();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
