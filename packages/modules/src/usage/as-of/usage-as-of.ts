import type { AskingContext } from '@counterfoil/engine/define';
import { type Instant, invalidOperation } from '@counterfoil/kernel';
import { foldedEvents } from '../analytics/folded-events.ts';
import { inWindows } from '../analytics/usage-in-groups.ts';
import type { StretchesQuestion, usageInStretches } from '../analytics/usage-in-stretches.ts';
import type { ListPlace } from '../list-place.ts';
import { AccountsAsOf } from './accounts-as-of.ts';
import { type EventAsOf, type EventsAsOf, eventsAsOf } from './events-as-of.ts';

type Asked = Pick<StretchesQuestion, 'eventName' | 'stretches' | 'filters'>;

/** The event of a void, or of whatever came later, is not there yet: usage as it counted at one position of the log (ADR 49). */
export class UsageAsOf {
  readonly position: string;
  readonly #accounts: AccountsAsOf;
  readonly #maximum: number;
  #read = 0;

  /** @param maximum events that figures may be counted from, all together; beyond, 400 `limit_reached` */
  constructor(position: string, maximum = Number.POSITIVE_INFINITY) {
    this.position = position;
    this.#maximum = maximum;
    this.#accounts = new AccountsAsOf(position);
  }

  /**
   * The same as `usageInStretches`, as it was then: counted event by event, for what is kept of hours knows no position. Throws
   * where events are dropped.
   */
  readonly inStretches: typeof usageInStretches = async (context, { stretches, ...question }) => {
    const [first] = stretches;
    if (!first) return [];
    if (question.aggregation.type !== 'WEIGHTED_SUM') {
      return foldedEvents(
        inWindows(asWhole(question)),
        this.#counted(this.events(context, { ...question, stretches })),
      );
    }
    // A level goes on between stretches: it is told of all the time, with the customers of any.
    const customerIds = [...new Set(stretches.flatMap((each) => each.customerIds))];
    const all = [{ customerIds, span: { start: firstInstant, end: question.span.end } }];
    return foldedEvents(
      inWindows(asWhole(question)),
      this.#counted(this.events(context, { ...question, stretches: all })),
    );
  };

  async *#counted(events: AsyncIterable<EventAsOf>): AsyncGenerator<EventAsOf> {
    for await (const event of events) {
      this.#read += 1;
      if (this.#read > this.#maximum) {
        throw invalidOperation(`This counts more than ${this.#maximum} usage events one by one.`, {
          reason: 'limit_reached',
          limit: this.#maximum,
        });
      }
      yield event;
    }
  }

  /**
   * The events of stretches in the order of time.
   *
   * @param after the place behind which they begin
   */
  async *events(
    context: AskingContext,
    { eventName, filters, stretches }: Asked,
    after: ListPlace | null = null,
  ): AsyncGenerator<EventAsOf> {
    for (const { customerIds, span } of stretches) {
      if (after !== null && span.end <= after.at) continue;
      const accounts = await this.#accounts.of(context, customerIds);
      const asked: EventsAsOf = { eventName, accounts, filters, position: this.position };
      yield* eventsAsOf(context, asked, span, after);
    }
  }
}

const firstInstant = '0001-01-01T00:00:00.000Z' as Instant;

/** The customers are those of the stretches. */
const asWhole = ({ eventName, ...question }: Omit<StretchesQuestion, 'stretches'>) => ({
  ...question,
  of: { eventName, customer: { kind: 'all' as const } },
});
