import type { AskingContext } from '@counterfoil/engine/define';
import type { SubscriptionEvent } from '../events.ts';
import type { LineData, SoldPrice } from '../lines/line.ts';
import { subscription } from '../subscription.ts';

/**
 * Questions in a world in which lines of subscriptions were sold at other prices from the beginning. What was settled stays as it was: charges and
 * commitments that were worked out then have their amounts.
 *
 * @param reprice gives the price in the place of one that was sold; itself where it stays
 */
export function withPrices(
  context: AskingContext,
  reprice: (price: SoldPrice) => SoldPrice,
): AskingContext {
  const priced = (lines: readonly LineData[]): LineData[] =>
    lines.map((line) => ({ ...line, price: reprice(line.price) }));
  const changed = <Event extends SubscriptionEvent>(event: Event): Event => {
    switch (event.type) {
      case 'SubscriptionCreated':
        return { ...event, data: { ...event.data, lines: priced(event.data.lines) } };
      case 'LinesChanged':
        return { ...event, data: { ...event.data, begun: priced(event.data.begun) } };
      case 'AddonAttached':
      case 'AddonRemoved':
      case 'PhaseAdded':
      case 'PhaseRemoved': {
        const { change } = event.data;
        return {
          ...event,
          data: { ...event.data, change: { ...change, begun: priced(change.begun) } },
        };
      }
      default:
        return event;
    }
  };
  return {
    now: context.now,
    principal: context.principal,
    get recalled() {
      return context.recalled;
    },
    get facts() {
      return context.facts;
    },
    get read() {
      return context.read;
    },
    load: (aggregate, id) => context.load(aggregate, id),
    holderOf: (aggregate, name, value) => context.holderOf(aggregate, name, value),
    factsByNow: () => context.factsByNow(),
    beside: () => context.beside(),
    part: (wanted) => context.part(wanted),
    async *history(aggregate, id, range) {
      for await (const event of context.history(aggregate, id, range)) {
        yield aggregate.name === subscription.name
          ? (changed(event as never as SubscriptionEvent) as never)
          : event;
      }
    },
  };
}
