/** A read that many may ask for. */
export interface FreshReads {
  (): Promise<void>;
  isUnderWay(): boolean;
}

/**
 * Lets callers share a read without ever giving one of them an answer that is older than his
 * question: who comes while a read is under way gets the next one, because the first may already
 * have passed what he must see. Everyone who waits for the next shares it.
 */
export function freshReads(read: () => Promise<void>): FreshReads {
  let current: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = (): Promise<void> => {
    current = read().finally(() => {
      current = null;
    });
    return current;
  };
  const ask = (): Promise<void> => {
    if (!current) return start();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = null;
        return ask();
      });
    return next;
  };
  return Object.assign(ask, { isUnderWay: () => current !== null });
}
