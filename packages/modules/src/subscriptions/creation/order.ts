import {
  type CustomerId,
  type DecimalText,
  decimal,
  type Instant,
  invalidField,
  laterOf,
  type PlanId,
  type SubscriptionId,
  sequencedId,
  shiftedBy,
} from '@counterfoil/kernel';
import type { CreatedData, StartData } from '../events.ts';
import { type GrantData, grantCopyId } from '../grants/grant.ts';
import { billedEvery, type LineData, type SoldPrice } from '../lines/line.ts';
import { ownCycle } from '../settlement/index.ts';
import { anchorOf, daysAfter } from '../time/cycle.ts';

/** A line as it is ordered, before it is known when the subscription begins. */
export interface OrderedLine {
  readonly price: SoldPrice;
  readonly entity_type: LineData['entity_type'];
  readonly entity_id: string;
  readonly entity_name: string;
  readonly meter_display_name: string | null;
  readonly display_name: string;
  readonly quantity: DecimalText;
  /** The earliest instant from which it is charged; null: from the start of the subscription. */
  readonly from: Instant | null;
  readonly end_date: Instant | null;
  readonly metadata: LineData['metadata'];
}

/** Everything that a subscription is made of, looked up and checked. */
export interface Order
  extends Omit<
    CreatedData,
    'id' | 'lines' | 'grants' | 'cycle' | 'trial' | 'is_draft' | 'trial_days'
  > {
  readonly id: SubscriptionId;
  readonly customer_id: CustomerId;
  readonly plan_id: PlanId;
  readonly is_draft: boolean;
  readonly rhythm: Pick<CreatedData['cycle'], 'unit' | 'count'>;
  readonly trial_days: number | null;
  readonly lines: readonly OrderedLine[];
  readonly grants: readonly Omit<GrantData, 'id' | 'start_date'>[];
}

type Starting = Pick<
  CreatedData,
  'billing_cycle' | 'billing_anchor' | 'timezone' | 'end_date' | 'trial_days'
> & { readonly rhythm: Order['rhythm'] };

/** Days that a subscription may be dated back, and ahead: its periods have to lie in years that can be written. */
const daysBackMaximum = 5 * 365;
const daysAheadMaximum = 100 * 365;

const dayMilliseconds = 24 * 60 * 60 * 1000;

function assertStartable(start: Instant, now: Instant): void {
  if (start < shiftedBy(now, -daysBackMaximum * dayMilliseconds)) {
    throw invalidField('/start_date', `must not lie more than ${daysBackMaximum} days back`);
  }
  if (start > shiftedBy(now, daysAheadMaximum * dayMilliseconds)) {
    throw invalidField('/start_date', `must not lie more than ${daysAheadMaximum} days ahead`);
  }
}

/**
 * Decides what follows from the start of a subscription: its trial and the rhythm of its periods. With a trial the
 * periods are counted from its end, and the trial is period 0 (E 10.4).
 *
 * @throws a Problem for an end that is not after the start, and for a start too far from `now`
 */
export function startOf(starting: Starting, start_date: Instant, now: Instant): StartData {
  assertStartable(start_date, now);
  const { billing_cycle, billing_anchor, timezone: zone, end_date, trial_days, rhythm } = starting;
  if (end_date !== null && end_date <= start_date) {
    throw invalidField('/end_date', `must be after the start, ${start_date}`);
  }
  const trial = trial_days
    ? { start: start_date, end: daysAfter(start_date, trial_days, zone) }
    : null;
  const start = trial?.end ?? start_date;
  const anchor = anchorOf(start, billing_cycle, { unit: rhythm.unit, zone, asked: billing_anchor });
  const cycle = { ...rhythm, anchor, start, first_index: trial === null ? 0 : 1 };
  return { start_date, cycle, trial };
}

/** The dates of a line: it is charged from the start of the first period, or later when it begins later. */
export function lineDates(
  { cycle }: StartData,
  timezone: string,
  { price, from, end_date }: Pick<OrderedLine, 'price' | 'from' | 'end_date'>,
): Pick<LineData, 'start_date' | 'end_date' | 'own'> {
  const start_date = from === null ? cycle.start : laterOf(from, cycle.start);
  const own = ownCycle(billedEvery(price), cycle, start_date, timezone);
  // One whose end has come before it begins is never charged.
  return { start_date, end_date: end_date === null ? null : laterOf(end_date, start_date), own };
}

/** The event of a new subscription; ids of its lines follow from its own. */
export function createdData(order: Order, at: Instant): CreatedData {
  const { lines, grants, rhythm, ...terms } = order;
  const start = startOf(order, order.start_date, at);
  return {
    ...terms,
    ...start,
    lines: lines.map(({ from, end_date, ...line }, index) => ({
      ...line,
      id: sequencedId('subs_line', at, order.id, index),
      addon_association_id: null,
      ...lineDates(start, order.timezone, { price: line.price, from, end_date }),
    })),
    // A trial has none yet (E 19).
    grants: grants.map((grant) => ({
      ...grant,
      id: grantCopyId(order.id, grant.source_id),
      start_date: start.cycle.start,
    })),
  };
}

/** The quantity of a line: as asked for, else the least that is billed, else one (E 2.4). */
export function quantityOf(
  { type, min_quantity }: Pick<SoldPrice, 'type' | 'min_quantity'>,
  asked: DecimalText | null,
  pointer: string,
): DecimalText {
  if (type === 'USAGE') {
    if (asked !== null && asked !== '0') {
      throw invalidField(pointer, 'a price of usage is charged by its meter');
    }
    return '0' as DecimalText;
  }
  const least = min_quantity === null || min_quantity === '0' ? null : min_quantity;
  if (asked === null || asked === '0') return (least ?? '1') as DecimalText;
  if (least !== null && decimal(asked).cmp(decimal(least)) < 0) {
    throw invalidField(pointer, `must be at least ${least}, the minimum of the price`);
  }
  return asked;
}

/**
 * The days of the trial that recurring fixed prices give together (E 10.4); null for none.
 *
 * @throws a Problem when they disagree
 */
export function trialDaysOf(prices: readonly SoldPrice[]): number | null {
  const days = new Set(
    prices
      .filter(({ type, billing_period }) => type === 'FIXED' && billing_period !== 'ONETIME')
      .map(({ trial_period_days }) => trial_period_days ?? 0),
  );
  if (days.size <= 1) return [...days][0] || null;
  throw invalidField(
    '/trial_period_days',
    `is required: the prices of the plan give trials of ${[...days].join(' and ')} days`,
  );
}
