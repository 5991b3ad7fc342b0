/** The work, done when it is asked for first. */
export function once<Value extends object>(work: () => Value): () => Value {
  let done: Value | null = null;
  return () => (done ??= work());
}

/** The same of work that takes its time. Where it failed it is begun again when it is asked for next. */
export function onceDone<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let done: Promise<Value> | null = null;
  const begin = (): Promise<Value> =>
    work().catch((error) => {
      done = null;
      throw error;
    });
  return () => (done ??= begin());
}
