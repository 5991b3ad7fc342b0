/** A value that several users hold together. */
export interface Share<Value> {
  readonly value: Value;
  /** Gives the share back; the last one closes the value. Only the first call counts. */
  release(): Promise<void>;
}

/** Opens a value per key for its first user and closes it after its last. */
export function createShares<Value>(
  open: (key: string) => Value,
  close: (value: Value) => Promise<void>,
): (key: string) => Share<Value> {
  const entries = new Map<string, { readonly value: Value; users: number }>();
  return (key) => {
    const entry = entries.get(key) ?? { value: open(key), users: 0 };
    entries.set(key, entry);
    entry.users += 1;
    let released = false;
    return {
      value: entry.value,
      release: async () => {
        if (released) return;
        released = true;
        entry.users -= 1;
        if (entry.users > 0) return;
        entries.delete(key);
        await close(entry.value);
      },
    };
  };
}
