/**
 * Work that pauses between its pieces, so that something else may be done there. Each piece is short, whatever a
 * caller has sent.
 */
export type Pieces<Result> = Generator<undefined, Result>;

/** Does work to its end without a pause. Throws what it throws. */
export function atOnce<Result>(work: Pieces<Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}
