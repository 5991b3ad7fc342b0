import type { BackOffLimits } from './run-forever.ts';

/**
 * The items of an iterable, and null whenever none has come for some milliseconds: after an item for the first of the
 * limits, and twice as long with every time that none comes, up to the last.
 */
export async function* orIdle<Item>(
  items: AsyncIterable<Item>,
  { firstMilliseconds, lastMilliseconds }: BackOffLimits,
): AsyncGenerator<Item | null> {
  const iterator = items[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<Item>> => {
    const next = iterator.next();
    // A failure is thrown when the item is taken, and must not end the process before.
    next.catch(() => {});
    return next;
  };
  let milliseconds = firstMilliseconds;
  try {
    for (let next = ask(); ; ) {
      const idle = Promise.withResolvers<null>();
      const timer = setTimeout(() => idle.resolve(null), milliseconds);
      const result = await Promise.race([next, idle.promise]).finally(() => clearTimeout(timer));
      if (result?.done) return;
      milliseconds = result ? firstMilliseconds : Math.min(2 * milliseconds, lastMilliseconds);
      yield result ? result.value : null;
      if (result) next = ask();
    }
  } finally {
    // Not waited for: it ends when the item that is asked for has come, or its source has been closed.
    iterator.return?.().catch(() => {});
  }
}
