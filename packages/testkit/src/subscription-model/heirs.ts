import { heirText, type ModelHeir, type Moment, type Stretch } from './life.ts';

/** Somebody who inherits a subscription, or did. */
interface Heir {
  readonly name: string;
  readonly customer: string;
  closed: Stretch[];
  /** The instant from which the subscription was theirs no more. */
  ended: Moment | null;
}

/** The customers who inherit a subscription, and those that follow on it: they live through its periods (E 10.9). */
export class Heirs {
  readonly #heirs: Heir[] = [];

  /** The customers who inherit it now. */
  get customers(): readonly string[] {
    return this.#lasting.map(({ customer }) => customer);
  }

  get #lasting(): readonly Heir[] {
    return this.#heirs.filter(({ ended }) => ended === null);
  }

  add(customer: string): void {
    const earlier = this.#heirs.filter((each) => each.customer === customer).length;
    const name = `${customer} ${earlier}`;
    this.#heirs.push({ name, customer, closed: [], ended: null });
  }

  /** One who inherits no more, in a period that runs. */
  remove(customer: string, at: Moment, open: Stretch | null): void {
    for (const heir of this.#lasting) {
      if (heir.customer !== customer) continue;
      if (open !== null) heir.closed.push({ from: open.from, to: at });
      heir.ended = at;
    }
  }

  close(period: Stretch): void {
    for (const heir of this.#lasting) heir.closed.push(period);
  }

  end(at: Moment): void {
    for (const heir of this.#lasting) heir.ended = at;
  }

  /** The subscription that follows is inherited by the same customers, anew. */
  follow(at: Moment): void {
    const { customers } = this;
    this.end(at);
    for (const customer of customers) this.add(customer);
  }

  texts(now: { readonly status: string; readonly open: Stretch | null }): readonly string[] {
    return this.#heirs.map(({ name, closed, ended }) => {
      const isOver = ended !== null;
      const { status, open } = isOver ? { status: 'cancelled', open: null } : now;
      return heirText({ name, status, closed, open, ended } satisfies ModelHeir);
    });
  }
}
