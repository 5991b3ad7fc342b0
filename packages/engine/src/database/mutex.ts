/** Lets one piece of work run at a time, in the order in which they came. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs the work when everything before it is done, whatever became of that. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
