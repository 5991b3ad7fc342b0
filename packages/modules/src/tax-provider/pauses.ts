import { TaxesUnavailable } from '../invoices/index.ts';

/** The rest of a provider that did not answer; in it questions of its environment fail at once. */
const pauseMilliseconds = 15_000;
const environmentsMaximum = 10_000;

interface Pause {
  readonly until: number;
  readonly failure: TaxesUnavailable;
}

/**
 * Providers that did not answer a moment ago, by environment. Whoever waits for each of a thousand invoices in turn would hold up the
 * invoices of everybody else.
 */
export class Pauses {
  readonly #pauses = new Map<string, Pause>();
  readonly #elapsed: () => number;

  /** @param elapsed milliseconds of a clock that only runs forward */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed;
  }

  begin(environmentId: string, failure: TaxesUnavailable): void {
    if (this.#pauses.size >= environmentsMaximum) this.#pauses.clear();
    this.#pauses.set(environmentId, { until: this.#elapsed() + pauseMilliseconds, failure });
  }

  /** Throws the failure of a moment ago again, while its provider rests. */
  assertMayAsk(environmentId: string): void {
    const pause = this.#pauses.get(environmentId);
    if (pause === undefined) return;
    if (this.#elapsed() < pause.until) {
      throw new TaxesUnavailable(pause.failure.reason, pause.failure.message, pause.failure);
    }
    this.#pauses.delete(environmentId);
  }
}
