/** The work, done when it is asked for first. */
export function once<Value extends object>(work: () => Value): () => Value {
  let done: Value | null = null;
  return () => (done ??= work());
}
