/**
 * Works on things in batches of at most so many, one batch after the other, while the things of the next one are read.
 * When the reading fails, what was read before is worked on all the same, and then it throws.
 */
export async function batchwise<Thing>(
  things: AsyncIterable<Thing>,
  maximum: number,
  work: (batch: readonly Thing[]) => Promise<void>,
): Promise<void> {
  let batch: Thing[] = [];
  let working = Promise.resolve();
  const hand = async () => {
    const next = batch;
    batch = [];
    await working;
    working = work(next);
    // Whoever waits for it hears of it.
    working.catch(() => undefined);
  };
  const rest = async () => {
    if (batch.length > 0) await hand();
    await working;
  };
  try {
    for await (const thing of things) {
      batch.push(thing);
      if (batch.length >= maximum) await hand();
    }
  } catch (error) {
    await rest().catch(() => undefined);
    throw error;
  }
  await rest();
}
