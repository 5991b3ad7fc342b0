// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// The orders behind a model life.
import {
  type CreditGrantId,
  type CustomerId,
  type DecimalText,
  instantOf,
  type SubscriptionId,
} from '@counterfoil/kernel';
import type {
  ModelAct,
  ModelCoupon,
  ModelGrant,
  ModelLife,
  ModelLine,
  ModelOwnGrant,
  ModelParent,
  ModelPlan,
} from '@counterfoil/testkit';
import type { OrderedCoupon } from './coupons/association.ts';
import type { OfferedGrant } from './creation/offered.ts';
import { createdData, type Order } from './creation/order.ts';
import type { OrderedLine } from './creation/ordered-line.ts';
import { inheritedId } from './families/family.ts';
import type { OwnGrant } from './grants/grant.ts';
import type { PhaseData } from './phases/phase.ts';
import { blankSubscription, type Subscription } from './subscription.ts';
import { lineOf, orderOf } from './test-order.ts';

const zones = { 0: 'UTC', 330: 'Asia/Kolkata', '-420': 'America/Phoenix' } as const;

const dollars = (cents: number): DecimalText =>
  `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}` as DecimalText;

/** The rhythm of a subscription, as the model has it. */
export type Rate = Pick<ModelLife, 'unit' | 'count'>;

/** An instant, where there is one. */
export const instantOrNull = (moment: number | null) =>
  moment === null ? null : instantOf(moment);

/** The id of the customer with a name. */
export const customerNamed = (name: string) => `cust_${name}` as CustomerId;

/** A line as it is ordered: of the plan, beside it, or of an add-on. */
export const orderedLine = (
  { name, kind, cents, quantity, commitment }: ModelLine,
  { unit, count }: Rate,
  origin: 'plan' | 'subscription' | 'addon',
): OrderedLine =>
  lineOf(
    {
      id: (origin === 'plan' ? 'price_01' : `price_${origin}`) as never,
      entity_type: origin === 'plan' ? 'PLAN' : origin === 'addon' ? 'ADDON' : 'SUBSCRIPTION',
      type: kind === 'usage' ? 'USAGE' : 'FIXED',
      invoice_cadence: kind === 'advance' ? 'ADVANCE' : 'ARREAR',
      billing_period: unit,
      billing_period_count: count,
      amount: dollars(cents),
    },
    {
      entity_type: origin,
      display_name: name,
      quantity: (kind === 'usage' ? '0' : String(quantity)) as DecimalText,
      commitment: commitment && {
        committed: { kind: 'amount', amount: dollars(commitment.cents) },
        windowed: false,
        time_buckets: [],
        overage_factor: '1' as DecimalText,
        true_up: commitment.truesUp,
        duration: null,
      },
    },
  );

const lengths = { DAILY: 'DAY', WEEKLY: 'WEEK', MONTHLY: 'MONTH' } as const;

const expiryOf = (expires: ModelGrant['expires']) =>
  typeof expires === 'object'
    ? {
        expiration_type: 'DURATION' as const,
        expiration_duration: expires.count,
        expiration_duration_unit: lengths[expires.unit],
      }
    : {
        expiration_type: expires === 'never' ? ('NEVER' as const) : ('BILLING_CYCLE' as const),
        expiration_duration: null,
        expiration_duration_unit: null,
      };

/** The terms of a grant of a plan or of an add-on. */
export const grantOf = ({ name, credits, unit, count, expires }: ModelGrant): OfferedGrant => ({
  source_id: `cg_of_${name.replaceAll(' ', '_')}` as CreditGrantId,
  name,
  credits: String(credits) as DecimalText,
  ...{ period: unit, period_count: count, priority: null, metadata: {} },
  ...{ conversion_rate: null, topup_conversion_rate: null },
  ...expiryOf(expires),
});

/** A grant of the subscription itself. */
export const ownGrantOf = (grant: ModelOwnGrant): OwnGrant => ({
  ...grantOf(grant),
  ...{ id: grantOf(grant).source_id, pointer: '' },
  start_date: instantOrNull(grant.from),
  end_date: instantOrNull(grant.until),
});

const phaseIdOf = (place: number) => `phase_${place}first` as PhaseData['id'];

/** The phases of a life that is sold in phases: the first is the plan as it is, until the second begins. */
function phasesOf(life: ModelLife): Pick<Order, 'phases' | 'lines'> {
  const ofPlan = (line: ModelLine) => orderedLine(line, life, 'plan');
  if (life.phases.length === 0) return { phases: [], lines: life.lines.map(ofPlan) };
  const all = [{ on: life.start, lines: life.lines }, ...life.phases];
  const endOf = (place: number) => instantOrNull(all[place + 1]?.on ?? life.end);
  return {
    phases: all.map(({ on }, place) => ({
      id: phaseIdOf(place),
      ...{ start_date: instantOf(on), end_date: endOf(place) },
      ...{ metadata: {}, entitlements: [] },
    })),
    lines: all.flatMap(({ on, lines }, place) =>
      lines.map((line) => ({
        ...ofPlan(line),
        ...{ from: place === 0 ? null : instantOf(on), end_date: endOf(place) },
        subscription_phase_id: phaseIdOf(place),
      })),
    ),
  };
}

/** The price that a coupon for a line names: each line is of a chain of its own. */
const chainNamed = (line: string) => `price_of_${line}`;

const couponOf = ({ name, line, phase, from, until }: ModelCoupon): OrderedCoupon => ({
  coupon_id: `coupon_${name}` as OrderedCoupon['coupon_id'],
  ...{ name, pointer: '' },
  discount: { type: 'percentage', percentage_off: '10' as DecimalText },
  repetition: { cadence: 'forever' },
  price_id: line === null ? null : chainNamed(line),
  phase_id: phase === null ? null : phaseIdOf(phase),
  ...{ start_date: instantOrNull(from), end_date: instantOrNull(until) },
});

/** A line whose price can be named, where a coupon does. */
const named = (line: OrderedLine, life: ModelLife): OrderedLine =>
  life.coupons.some((coupon) => coupon.line === line.display_name)
    ? { ...line, price: { ...line.price, parent_price_id: chainNamed(line.display_name) as never } }
    : line;

/** The order of a life. */
export function orderOfLife(life: ModelLife): Order {
  const { unit, count, anchor, commitment, payer } = life;
  const { phases, lines } = phasesOf(life);
  const id = 'subs_01' as SubscriptionId;
  return orderOf({
    id,
    start_date: instantOf(life.start),
    end_date: instantOrNull(life.end),
    billing_cycle: anchor === 'calendar' ? 'calendar' : 'anniversary',
    billing_anchor: typeof anchor === 'number' ? instantOf(anchor) : null,
    rhythm: { unit, count },
    trial_days: life.trialDays || null,
    timezone: zones[life.ahead as keyof typeof zones],
    proration_behavior: life.prorates ? 'create_prorations' : 'none',
    payment_behavior: life.waits ? 'default_incomplete' : 'default_active',
    commitment: commitment && {
      amount: dollars(commitment.cents),
      overage_factor: '1' as DecimalText,
      true_up: commitment.truesUp,
      duration: commitment.isYearly ? 'ANNUAL' : null,
    },
    phases,
    lines: lines.map((line) => named(line, life)),
    grants: life.grants.map(grantOf),
    own_grants: life.ownGrants.map(ownGrantOf),
    coupons: life.coupons.map(couponOf),
    family: {
      invoicing_customer_id: payer === null ? null : customerNamed(payer),
      ...{ parent: null, grouped: [] },
      heirs: life.heirs.map((name) => ({
        subscription_id: inheritedId(id, customerNamed(name)),
        customer_id: customerNamed(name),
      })),
    },
  });
}

const nothingBeside = { phases: [], ownGrants: [], coupons: [], heirs: [], payer: null } as const;

/** The order of another plan, as a request for it makes it. */
export const orderOfPlan = (
  life: ModelLife,
  plan: ModelPlan,
  act: ModelAct,
  { place, isOnTrial }: { readonly place: number; readonly isOnTrial: boolean },
): Order => ({
  ...orderOfLife({
    ...{ ...life, ...nothingBeside, trialDays: 0, waits: life.waits && isOnTrial },
    ...{ ...plan, start: act.at, prorates: act.prorates },
  }),
  id: `subs_${place}next` as SubscriptionId,
  plan_id: `plan_${place}next` as Order['plan_id'],
  commitment: null,
});

/** A subscription that runs, which others can be invoiced with. */
export function parentNamed({ name, unit, count }: ModelParent): Subscription {
  const at = instantOf(Date.UTC(2025, 0, 1));
  const id = `subs_${name}` as SubscriptionId;
  return blankSubscription(
    createdData(orderOf({ id, start_date: at, rhythm: { unit, count } }), at),
    at,
  );
}
