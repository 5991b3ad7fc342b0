/**
 * Hands over the batches of a source and, between two of them, does pieces of work: one before each batch, and more while
 * the next batch is not there. Nothing of the two is under way at the same time.
 *
 * @param work does a piece; false when nothing is left until the next batch
 */
export async function* between<Batch>(
  batches: AsyncIterable<Batch>,
  work: () => Promise<boolean>,
): AsyncGenerator<Batch, void, undefined> {
  const source = batches[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = source.next();
      let isThere = false;
      const note = (): void => {
        isThere = true;
      };
      // Its failure is told where it is waited for.
      next.then(note, note);
      while ((await work()) && !isThere);
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    // Not waited for: a source that is asked for its next batch ends only when it is told to otherwise.
    source.return?.().catch(() => undefined);
  }
}
