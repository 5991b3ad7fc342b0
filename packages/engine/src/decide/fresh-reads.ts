/** A read that many may ask for. */
export interface FreshReads {
  (): Promise<void>;
  isUnderWay(): boolean;
}

/**
 * Lets callers share a read, and never answers one from before it asked: a caller that comes while a
 * read is under way gets the next one, because the first may already have passed what the caller
 * must see. All that wait for the next share it.
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
