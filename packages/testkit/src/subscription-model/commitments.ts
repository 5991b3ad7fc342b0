import { Calendar } from './calendar.ts';
import {
  commitmentText,
  type ModelCommitment,
  type ModelLife,
  type Moment,
  type Stretch,
} from './life.ts';
import { common, type OwnTime } from './own-time.ts';

/** The commitment of all usage of one subscription, from the end of its trial on (E 14.2, 14.3). */
export class Commitment {
  readonly #terms: ModelCommitment;
  readonly #ahead: ModelLife['ahead'];
  readonly #time: OwnTime;
  /** The instant at which the last term was broken off. */
  #brokenOff: Moment | null = null;

  constructor(terms: ModelCommitment, ahead: ModelLife['ahead'], time: OwnTime) {
    this.#terms = terms;
    this.#ahead = ahead;
    this.#time = time;
  }

  /**
   * The commitment that usage is held against that is billed for a stretch; in one that is empty a term is trued up that nobody knew to end
   * there when the period before was billed.
   *
   * @param end as far as it is known by now
   */
  for(billed: Stretch, whole: Stretch, since: Moment, end: Moment): string[] {
    const { cents, truesUp, isYearly } = this.#terms;
    const span = common(billed, { from: since, to: end });
    if (!isYearly) {
      return span === null
        ? []
        : [commitmentText(null, span, this.#time.share(cents, span, whole), truesUp)];
    }
    const isLate = span === null && truesUp && end > since && end === billed.from;
    if (span === null && (!isLate || this.#brokenOff === end)) return [];
    const part = span ?? { from: end - 1, to: end };
    const term = this.#term(since, part.from);
    const isBrokenOff = end < term.to && part.to >= end;
    if (span === null && !isBrokenOff) return [];
    if (isBrokenOff) this.#brokenOff = end;
    const held = isBrokenOff ? { from: term.from, to: end } : term;
    const isTruedUp = truesUp && (isBrokenOff || part.to >= term.to);
    return [commitmentText(null, held, this.#time.share(cents, held, term), isTruedUp)];
  }

  /** The year that an instant lies in, counted from the first. */
  #term(since: Moment, at: Moment): Stretch {
    const years = new Calendar({
      ...{ start: since, trialDays: 0, ahead: this.#ahead },
      ...{ unit: 'MONTHLY', count: 12, anchor: 'start' },
    });
    let number = 0;
    while (years.period(number).span.to <= at) number += 1;
    return years.period(number).span;
  }
}

/** The commitment of a life; null: it has none. */
export const commitmentOf = (
  { commitment, ahead }: Pick<ModelLife, 'commitment' | 'ahead'>,
  time: OwnTime,
): Commitment | null => commitment && new Commitment(commitment, ahead, time);
