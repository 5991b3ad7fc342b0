import {
  derivedId,
  type Instant,
  invalidOperation,
  laterOf,
  type PlanSyncId,
} from '@counterfoil/kernel';
import { chainOf, type Offer, type PriceRecord } from '../../offers/index.ts';
import { soldOf } from '../creation/offered.ts';
import { offeredPrices } from '../creation/offered-prices.ts';
import { lineDates, quantityOf } from '../creation/ordered-line.ts';
import { acting, assertRunning, type SubscriptionDecision } from '../decisions.ts';
import {
  asCharged,
  type Changed,
  changing,
  joined,
  replaced,
  settling,
  settlingOne,
} from '../lines/decisions.ts';
import { type Line, type LineData, newLine, ofNoAddon } from '../lines/line.ts';
import { maximumLines } from '../schema.ts';
import { addLine, removeLine, replaceLine } from '../settlement/index.ts';
import type { Subscription } from '../subscription.ts';

/** The prices of a plan, as of an instant. */
export interface PlanPrices {
  readonly plan: Offer;
  /** The names of the meters that its prices are counted by. */
  readonly meterNames: ReadonlyMap<string, string>;
  /** The synchronisation. */
  readonly id: PlanSyncId;
  readonly at: Instant;
}

/**
 * Brings the lines that a subscription has from its plan to what the plan sells at an instant: a line whose price was
 * replaced goes on under the new price, one whose price has ended ends, and a price that is new to the subscription
 * begins. Nothing before the instant is charged otherwise. A line with a price or an end of its own stays as it is, and
 * so does what is charged once. One that was taken out does not come back.
 *
 * @throws a Problem where the plan has no price for the subscription any more, for one that is paused, and for more lines than there may be
 */
export const syncLines =
  (id: string, sold: PlanPrices): SubscriptionDecision =>
  (state, now) =>
    acting(state, id, now, (current) => {
      assertRunning(current);
      const { currency, cycle, opened } = current;
      const offered = offeredPrices(sold.plan, currency, cycle, sold.at).filter(isRecurring);
      const byChain = new Map(offered.map((price) => [chainOf(price), price]));
      // A period that has ended since then was billed.
      const since = { ...sold, at: opened === null ? sold.at : laterOf(sold.at, opened.start) };
      const all = [
        ...current.lines
          .filter(isAsSold)
          .flatMap((line) => kept(current, line, byChain.get(chainOf(line.price)), since)),
        ...offered
          .filter((price) => !current.sold_chains.includes(chainOf(price)))
          .map((price) => begun(current, price, since)),
      ];
      const changed = joined(all);
      assertRoom(current, changed);
      return changing(current, 'plan_synced', since.at, changed);
    });

const isRecurring = ({ billing_period }: Pick<PriceRecord, 'billing_period'>): boolean =>
  billing_period !== 'ONETIME';

/** Tells whether a line is just as the plan sold it, without an end that was asked for. */
const isAsSold = ({ entity_type, price, end_date }: Line): boolean =>
  entity_type === 'plan' && price.entity_type === 'PLAN' && end_date === null && isRecurring(price);

/** A line of the plan that goes on under the price that is in force now, or ends with its price. */
function kept(
  subscription: Subscription,
  line: Line,
  price: PriceRecord | undefined,
  sold: PlanPrices,
): readonly Changed[] {
  if (price?.id === line.price.id) return [];
  const proration = subscription.proration_behavior;
  const at = laterOf(sold.at, line.start_date);
  if (!price) {
    const { lines } = settlingOne(subscription, line, (context, charged) =>
      removeLine(charged, context, { at, proration }),
    );
    return [{ begun: [], ended: [{ id: line.id, end_date: at, followed_by: null }], lines }];
  }
  const from = laterOf(at, price.start_date);
  const next: Line = { ...line, id: lineId(subscription, price, sold), price: soldOf(price) };
  const replacing = replaced(
    subscription,
    line,
    next,
    (context, charged) =>
      replaceLine(charged, asCharged(subscription, next), context, { at: from, proration }),
    from,
  );
  return [replacing];
}

/** A line under a price that the subscription has never had. */
function begun(subscription: Subscription, price: PriceRecord, sold: PlanPrices): Changed {
  const { plan, meterNames, at } = sold;
  const { timezone, proration_behavior } = subscription;
  const { id: entity_id, name: entity_name } = plan.root.record;
  const from = laterOf(at, price.start_date);
  const line: LineData = {
    id: lineId(subscription, price, sold),
    entity_type: 'plan',
    entity_id,
    entity_name,
    ...ofNoAddon,
    price: soldOf(price),
    meter_display_name: meterNames.get(price.meter_id ?? '') ?? null,
    display_name: price.display_name ?? entity_name,
    quantity: quantityOf(price, null, ''),
    subscription_phase_id: null,
    commitment: null,
    ...lineDates(subscription, timezone, { price: soldOf(price), from, end_date: null }),
    metadata: {},
  };
  const charged = asCharged(subscription, newLine(line));
  const lines = settling(subscription, (context) => addLine(charged, context, proration_behavior));
  return { begun: [line], ended: [], lines };
}

const lineId = ({ id }: Subscription, price: PriceRecord, sync: PlanPrices) =>
  derivedId('subs_line', `${sync.id}\n${id}\n${price.id}`);

function assertRoom({ lines }: Subscription, { begun, ended }: Changed): void {
  const count = lines.length + begun.length - ended.filter((each) => each.followed_by).length;
  if (count <= maximumLines) return;
  throw invalidOperation(
    `A subscription has at most ${maximumLines} lines: this would have ${count}.`,
    {
      reason: 'limit_reached',
      limit: maximumLines,
    },
  );
}
