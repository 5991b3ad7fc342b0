import type { EventStore, Position, StoredEvent } from '@counterfoil/engine';

/** The steps by which an invoice that credits pay becomes final, as their events are named: each is an append of its own. */
export const finalizingSteps = [
  'InvoiceDrafted',
  'FinalizationStarted',
  'InvoiceComputed',
  'CreditsHeld',
  'NumberTaken',
  'InvoiceFinalized',
  'HoldCaptured',
  'ChargesInvoiced',
] as const;
export type FinalizingStep = (typeof finalizingSteps)[number];

const prefixes = ['invoice-', 'wallet-', 'invoice_sequence-', 'subscription-'];

/** An instant at which invoices were on their way: how many of them, by the step that each had done last. */
export type Standing = ReadonlyMap<FinalizingStep, number>;

/**
 * Tells where the invoices that were on their way to be final stood at some positions of the log, from the log alone. One of which
 * every step is done is on its way no more.
 *
 * @param positions rising
 */
export async function standingAt(
  store: Pick<EventStore, 'readLog'>,
  positions: readonly Position[],
): Promise<readonly Standing[]> {
  const found: Standing[] = [];
  const underWay = new UnderWay();
  const upTo = positions.at(-1) ?? 0n;
  for await (const event of store.readLog({ prefixes, after: 0n, upTo })) {
    while ((positions[found.length] ?? event.position) < event.position)
      found.push(underWay.standing());
    underWay.take(event);
  }
  while (found.length < positions.length) found.push(underWay.standing());
  return found;
}

/** The invoices that are on their way, each with the steps that it has done. */
class UnderWay {
  readonly #done = new Map<string, Set<FinalizingStep>>();
  readonly #holders = new Map<string, string>();

  take(event: StoredEvent): void {
    const step = finalizingSteps.find((each) => each === event.type);
    if (step === undefined) return;
    const id = this.#invoiceOf(step, event);
    if (id === undefined) return;
    const done = this.#done.get(id) ?? new Set();
    // An invoice that waits has figures before it is made final; they are not those of this step.
    if (step === 'InvoiceComputed' && !done.has('FinalizationStarted')) return;
    this.#done.set(id, done.add(step));
    if (done.size === finalizingSteps.length) this.#done.delete(id);
  }

  standing(): Standing {
    const counts = new Map<FinalizingStep, number>();
    for (const done of this.#done.values()) {
      const last = [...done].at(-1);
      if (last !== undefined) counts.set(last, (counts.get(last) ?? 0) + 1);
    }
    return counts;
  }

  #invoiceOf(step: FinalizingStep, { stream, data }: StoredEvent): string | undefined {
    const told = data as { readonly invoice_id?: string; readonly hold_id?: string };
    switch (step) {
      case 'CreditsHeld':
        if (told.hold_id && told.invoice_id) this.#holders.set(told.hold_id, told.invoice_id);
        return told.invoice_id;
      case 'HoldCaptured':
        return this.#holders.get(told.hold_id ?? '');
      case 'NumberTaken':
        // Subscriptions count their invoices too.
        return stream.includes('.INV_') ? told.invoice_id : undefined;
      case 'ChargesInvoiced':
        return told.invoice_id;
      default:
        return stream.slice(stream.lastIndexOf('.') + 1);
    }
  }
}

/** The number of kills that met some invoice right after each step, and of the invoices that they met there. */
export const metAfter = (standings: readonly Standing[], step: FinalizingStep) => ({
  kills: standings.filter((standing) => standing.has(step)).length,
  invoices: standings.reduce((sum, standing) => sum + (standing.get(step) ?? 0), 0),
});

/** Tells as it happens when invoices come to a step. */
export class StepFeed {
  readonly #ending = new AbortController();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #ended: Promise<void>;

  constructor(store: Pick<EventStore, 'follow' | 'head'>) {
    this.#ended = this.#follow(store);
  }

  /** Resolves with the next event of a step; never, where none comes. */
  next(step: FinalizingStep): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(step, [...(this.#waiting.get(step) ?? []), resolve]);
    });
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  async #follow(store: Pick<EventStore, 'follow' | 'head'>): Promise<void> {
    let after = await store.head();
    const { signal } = this.#ending;
    for await (const items of store.follow(
      { prefixes, after: () => after, signal },
      itemsMaximum,
    )) {
      for (const item of items) {
        if (item.kind !== 'event') continue;
        after = item.event.position;
        for (const resolve of this.#waiting.get(item.event.type)?.splice(0) ?? []) resolve();
      }
    }
  }
}

const itemsMaximum = 500;
