import { type Instant, invariant, type Stamp, type Stamped } from '@counterfoil/kernel';
import {
  type Offer,
  type OfferDecision,
  type OfferEvent,
  type OfferState,
  type Owner,
  offer,
} from '../offers/index.ts';
import type { AnyRecord } from '../record/index.ts';
import type { AllNames, Faults } from './entry.ts';
import type { OfferKind } from './offer-kinds.ts';
import type { Entry } from './schema.ts';

/** The surroundings that the plan of an offer is made with. */
export interface OfferSurroundings {
  readonly names: AllNames;
  /** The records that references lead to, as they will be. */
  readonly records: ReadonlyMap<string, AnyRecord>;
  readonly faults: Faults;
  readonly at: Instant;
  readonly stamp: Stamp;
  readonly prune: boolean;
}

/** An entry of the file about one record, and its place there. */
export interface Asked {
  readonly entry: Entry;
  readonly pointer: string;
}

/**
 * The events that make an offer as an entry says, each decided on the state that the ones before
 * led to.
 */
export class OfferPlan {
  readonly events: OfferEvent[] = [];
  readonly details: string[] = [];
  readonly around: OfferSurroundings;
  readonly owner: Owner;
  #state: OfferState;

  constructor(kind: OfferKind, id: string, state: OfferState, around: OfferSurroundings) {
    this.around = around;
    this.owner = { entity_type: kind.type, entity_id: id };
    this.#state = state;
  }

  /** Decides and continues from there. Returns whether anything followed. */
  run(decision: OfferDecision): boolean {
    const { at, stamp } = this.around;
    const events = decision(this.#state, at);
    for (const event of events) {
      this.#state = offer.evolve(this.#state, { ...event, stamp } as Stamped<OfferEvent>);
      this.events.push(event);
    }
    return events.length > 0;
  }

  /** Runs a decision, and notes it when anything followed. */
  note(detail: string, decision: OfferDecision): void {
    if (this.run(decision)) this.details.push(detail);
  }

  /** The offer as decided so far. */
  get offer(): Offer {
    invariant(this.#state, 'an offer is made before what it owns');
    return this.#state;
  }
}
