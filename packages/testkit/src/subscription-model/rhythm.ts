import { Calendar } from './calendar.ts';
import type { ModelLife, Moment, Stretch } from './life.ts';

type Terms = Pick<ModelLife, 'ahead' | 'unit' | 'count' | 'anchor'>;

/** A period, and the time that its price is for: as if the subscription had no end. */
export interface Turn {
  readonly span: Stretch;
  readonly whole: Stretch;
}

/** A period that runs. Without a whole it is a trial. */
export interface Open {
  span: Stretch;
  whole: Stretch | null;
}

/** Something that happens by itself. Of one instant what has a lower rank comes first (ADR 41). */
export interface Step {
  readonly at: Moment;
  readonly rank: number;
  readonly take: () => void;
}

/** The periods that are still to come, one after the other. */
export class Rhythm {
  readonly #calendar: Calendar;
  readonly #terms: Terms;
  /** The rest of a period of the subscription before, where there is one. */
  #rest: Turn | null = null;
  #number = 0;

  constructor(terms: Terms, start: Moment, rest: Turn | null = null) {
    this.#terms = terms;
    this.#calendar = new Calendar({ ...terms, start, trialDays: 0 });
    this.#rest = rest;
  }

  upcoming(): Turn {
    return this.#rest ?? this.#calendar.period(this.#number);
  }

  take(): Turn {
    const turn = this.upcoming();
    if (this.#rest === null) this.#number += 1;
    this.#rest = null;
    return turn;
  }

  /** A rhythm that begins anew, with its anchor there. */
  from(start: Moment): Rhythm {
    return new Rhythm({ ...this.#terms, anchor: 'start' }, start);
  }

  /** The same rhythm, in which what is left of a turn comes first. */
  continued(rest: Turn): Rhythm {
    return new Rhythm({ ...this.#terms, anchor: this.#calendar.anchor }, rest.span.to, rest);
  }
}
