import {
  type CustomerId,
  type Instant,
  invalidField,
  type PlanId,
  type SubscriptionId,
  sequencedId,
  shiftedBy,
} from '@counterfoil/kernel';
import { begunAddon, type OrderedAddon } from '../addons/ordered-addon.ts';
import { type OrderedCoupon, orderedCoupons } from '../coupons/association.ts';
import type { CreatedData, StartData } from '../events.ts';
import { datedGrant, type GrantData, grantCopyId, type OwnGrant } from '../grants/grant.ts';
import { ofNoAddon, type SoldPrice } from '../lines/line.ts';
import { assertAfterTrial } from '../phases/prepare.ts';
import { anchorOf, daysAfter } from '../time/cycle.ts';
import type { OfferedGrant } from './offered.ts';
import { lineDates, type OrderedLine } from './ordered-line.ts';

/** Everything that a subscription is made of, looked up and checked. */
export interface Order
  extends Omit<
    CreatedData,
    'id' | 'lines' | 'grants' | 'addons' | 'cycle' | 'trial' | 'is_draft' | 'trial_days' | 'coupons'
  > {
  readonly id: SubscriptionId;
  readonly customer_id: CustomerId;
  readonly plan_id: PlanId;
  readonly is_draft: boolean;
  readonly rhythm: Pick<CreatedData['cycle'], 'unit' | 'count'>;
  readonly trial_days: number | null;
  readonly lines: readonly OrderedLine[];
  readonly grants: readonly OfferedGrant[];
  /** Of the subscription itself. */
  readonly own_grants: readonly OwnGrant[];
  /** Of a subscription that this one follows on, each with what it gives next. */
  readonly continued_grants: readonly GrantData[];
  readonly addons: readonly OrderedAddon[];
  readonly coupons: readonly OrderedCoupon[];
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

/** The event of a new subscription, in the order of E 10.2; ids of its lines follow from its own. */
export function createdData(
  order: Order,
  at: Instant,
  start = startOf(order, order.start_date, at),
): CreatedData {
  const { lines, grants, own_grants, continued_grants, addons, coupons, rhythm, ...terms } = order;
  const host = { ...terms, ...start };
  assertAfterTrial(
    terms.phases.slice(1),
    start.trial?.end ?? null,
    (place) => `/phases/${place + 1}/start_date`,
  );
  const begun = addons.map((addon) => begunAddon(host, addon, { start: start.start_date, at }));
  const ownLines = lines.map(({ from, end_date, ...line }, index) => ({
    ...line,
    id: sequencedId('subs_line', at, order.id, index),
    ...ofNoAddon,
    ...lineDates(start, order.timezone, { price: line.price, from, end_date }),
  }));
  return {
    ...terms,
    ...start,
    lines: [...ownLines, ...begun.flatMap((each) => each.lines)],
    coupons: [...orderedCoupons({ ...host, lines: ownLines }, coupons)],
    // A trial has none yet (E 19).
    grants: [
      ...grants.map((grant) => ({
        ...grant,
        id: grantCopyId(order.id, grant.source_id),
        addon_association_id: null,
        part: null,
        start_date: start.cycle.start,
        end_date: null,
      })),
      ...own_grants.map((grant) => datedGrant(grant, { ...host, gives_from: start.cycle.start })),
      ...continued_grants,
      ...begun.flatMap((each) => each.grants),
    ],
    addons: begun.map(({ addon }) => addon),
  };
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
