/**
 * Lets callers share a read without ever giving one of them an answer that is older than its
 * question: a caller that comes while a read is under way gets the next one, because the first may
 * already have passed what this caller must see. All that wait for the next share it.
 */
export function shared<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let current: Promise<Value> | null = null;
  let next: Promise<Value> | null = null;
  return function ask(): Promise<Value> {
    if (current) {
      const begin = (): Promise<Value> => {
        next = null;
        return ask();
      };
      next ??= current.then(begin, begin);
      return next;
    }
    current = read().finally(() => {
      current = null;
    });
    return current;
  };
}
