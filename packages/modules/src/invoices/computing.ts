import type { AskingContext, WorkContext } from '@counterfoil/engine/define';
import { existing, type Instant, type InvoiceId } from '@counterfoil/kernel';
import {
  type CouponData,
  periodNumberAt,
  type RatedSettlement,
  rateSettled,
  type Settled,
  type Subscription,
  settledOf,
  subscriptionBefore,
} from '../subscriptions/index.ts';
import { type Bill, figuresOf } from './amounts.ts';
import {
  type CouponedLine,
  type CouponHost,
  type CouponUse,
  couponsOn,
  couponUse,
  isForOne,
  useCoupon,
} from './coupons.ts';
import { belongsTo, invoicedUnder, type SettlementsCause } from './drafting/cause.ts';
import type { InvoiceFigures } from './events.ts';
import type { Invoice } from './invoice.ts';
import { named } from './lines/line-id.ts';
import { lateLines, lookedBack } from './lines/late-usage.ts';
import { linesOfSettlement } from './lines/settlement-lines.ts';
import { taxesOf } from './taxes.ts';
import type { UsageReading } from './usage-readings.ts';

/** Figures, with the position of the log up to which usage counts in them; null where none does. */
export interface Computed extends InvoiceFigures {
  readonly position: string | null;
}

/** The invoice whose figures are computed. */
export type ComputedInvoice = Pick<
  Invoice,
  'id' | 'customer_id' | 'subscription_id' | 'currency' | 'period_end'
> & { readonly cause: SettlementsCause };

/**
 * Computes an invoice from what subscriptions have settled and what was used: everything but prepaid credits, which are known
 * when it is made final (ADR 44). The same streams and the same usage give the same figures.
 *
 * @param claimed tells whether a coupon that is for one invoice can be taken off this one
 */
export async function computed(
  context: AskingContext,
  invoice: ComputedInvoice,
  { context: asking, moment }: UsageReading,
  claimed: (coupon: CouponData) => Promise<boolean>,
): Promise<Computed> {
  const parts = await partsOf(context, invoice.cause);
  const lines: PartLine[] = [];
  let isUsed = false;
  const rate = (settled: Settled) => rateSettled(asking, settled, moment);
  for (const part of parts) {
    const rated = await rate(part.settled);
    isUsed ||= rated.stretches.length > 0 || rated.commitment !== null;
    const late = await lateLines(asking, part.subscription.id, part.earlier, rate);
    lines.push(
      ...linesIn(part, rated),
      ...late.map(({ line, settled }) => ({ line, of: placeOf(line, settled) })),
    );
  }
  const ids = named(
    invoice.id,
    lines.map(({ line }) => line),
  );
  const bill: Omit<Bill, 'coupons'> = {
    currency: invoice.currency,
    lines: ids,
    taxes: await taxesOf(asking, taxedAs(invoice)),
    credits: [],
  };
  const couponed = ids.map(({ id, subscription_id, subscription_line_item_id }, index) => ({
    ...existing(lines[index] ?? null, 'line').of,
    id,
    subscription_id,
    subscription_line_item_id,
  }));
  const hosts = hostsOf(parts);
  const isFree = await freeCoupons(hosts, bill, couponed, invoice.id, claimed);
  const coupons = couponsFor(invoice.id, hosts, couponed, isFree);
  return { ...figuresOf({ ...bill, coupons }), position: isUsed ? moment.position : null };
}

const taxedAs = (invoice: ComputedInvoice) => ({
  id: invoice.id,
  subscription_id: invoice.subscription_id,
  customer_id: invoice.customer_id,
  currency: invoice.currency,
  at: invoice.period_end ?? invoice.cause.at,
});

/** A settlement of an invoice, with its subscription as it is now. */
interface Part {
  readonly subscription: Subscription;
  readonly settled: Settled;
  /** Settlements of usage before it, which is looked at again where this one closes a period. */
  readonly earlier: readonly Settled[];
}

/** The settlements of an invoice, of its subscription and of those that are invoiced with it, in the order in which they were made. */
async function partsOf(context: AskingContext, cause: SettlementsCause): Promise<readonly Part[]> {
  const root = await settledFor(context, cause.subscription_id, cause);
  const subscription = existing(root.subscription, 'subscription');
  const lines = await linesBefore(context, subscription, root.lines);
  const own = root.settled.map((settled) => ({ ...settled, lines }));
  const parts = partsIn(subscription, own, cause);
  if (!cause.of_period) return parts;
  const ofMembers: Part[] = [];
  for (const id of root.members) {
    const member = await settledFor(context, id, cause);
    if (member.subscription === null) continue;
    // As it was then: whoever leaves the group later is billed here for what came before.
    ofMembers.push(...partsIn(member.subscription, member.settled, cause));
  }
  return [...parts, ...ofMembers];
}

const settledFor = (context: AskingContext, id: string, cause: SettlementsCause) =>
  settledOf(
    context,
    id,
    (each) => belongsTo(cause, each) || billsUsage(each),
  );

const billsUsage = ({ lines }: Settled['settlement']): boolean =>
  lines.some(({ kind }) => kind === 'usage');

function partsIn(
  subscription: Subscription,
  all: readonly Settled[],
  cause: SettlementsCause,
): readonly Part[] {
  return all.flatMap((settled, index) => {
    const { settlement, state } = settled;
    if (!belongsTo(cause, settlement) || !isUnder(state, settlement, cause)) return [];
    const before = all.slice(0, index).filter((each) => billsUsage(each.settlement));
    return { subscription, settled, earlier: isLast(settlement) ? before.slice(-lookedBack) : [] };
  });
}

/** Tells whether a settlement is the last of a period: usage that came late for earlier ones goes on its invoice. */
const isLast = (settlement: Settled['settlement']): boolean =>
  billsUsage(settlement) &&
  (settlement.reason === 'period_closed' ||
    settlement.reason === 'cancelled' ||
    settlement.reason === 'plan_changed');

const isUnder = (
  state: Subscription,
  settlement: Settled['settlement'],
  { subscription_id }: SettlementsCause,
): boolean => invoicedUnder(state, settlement) === subscription_id;

/** All lines, those of the subscription before included, which a change of plan credits. */
async function linesBefore(
  context: AskingContext,
  subscription: Subscription,
  lines: Settled['lines'],
): Promise<Settled['lines']> {
  const before = subscriptionBefore(subscription);
  if (before === null) return lines;
  const earlier = await settledOf(context, before, () => false);
  return new Map([...earlier.lines, ...lines]);
}

/** A line of an invoice, with what decides about its coupons. */
interface PartLine {
  readonly line: ReturnType<typeof linesOfSettlement>[number];
  readonly of: Pick<CouponedLine, 'phase_id' | 'settled_at' | 'period_index' | 'is_net'>;
}

function linesIn({ settled, subscription }: Part, rated: RatedSettlement): readonly PartLine[] {
  const { settlement, lines } = settled;
  return linesOfSettlement({ settlement, lines, subscription_id: subscription.id, rated }).map(
    (line) => ({ line, of: placeOf(line, settled) }),
  );
}

/** Everything about a line and its settlement that decides about coupons. */
function placeOf(line: PartLine['line'], { settlement, lines }: Settled): PartLine['of'] {
  const own = lines.get(line.subscription_line_item_id ?? '');
  return {
    phase_id: own?.subscription_phase_id ?? null,
    settled_at: settlement.at,
    period_index: settlement.period_index,
    is_net: line.kind === 'credit' && isOfFinal(settlement, line),
  };
}

/** Tells whether a credit is of a charge whose invoice was final: it is net of the discounts of that. */
const isOfFinal = (
  { lines }: Settled['settlement'],
  { subscription_line_item_id }: PartLine['line'],
): boolean =>
  lines.some(
    (each) =>
      each.kind === 'credit' &&
      each.line_item_id === subscription_line_item_id &&
      each.invoice_id !== undefined,
  );

/** The subscriptions whose coupons can be taken off, each once. */
const hostsOf = (parts: readonly Part[]): readonly CouponHost[] => [
  ...new Map(
    parts.map(({ subscription }) => [
      subscription.id,
      {
        id: subscription.id,
        coupons: subscription.coupons,
        periodOf: (at: Instant) => periodNumberAt(subscription, at),
      },
    ]),
  ).values(),
];

const couponsFor = (
  invoiceId: InvoiceId,
  hosts: readonly CouponHost[],
  lines: readonly CouponedLine[],
  isFree: (coupon: CouponData) => boolean,
) => hosts.flatMap((host) => couponsOn(invoiceId, lines, host, isFree));

/** Asks for each coupon that is for one invoice, and would be taken off this one, whether it can be. */
async function freeCoupons(
  hosts: readonly CouponHost[],
  bill: Omit<Bill, 'coupons'>,
  lines: readonly CouponedLine[],
  invoiceId: InvoiceId,
  claimed: (coupon: CouponData) => Promise<boolean>,
): Promise<(coupon: CouponData) => boolean> {
  const ones = hosts.flatMap(({ coupons }) => coupons.filter(isForOne));
  if (ones.length === 0) return () => true;
  const all = figuresOf({ ...bill, coupons: couponsFor(invoiceId, hosts, lines, () => true) });
  const applied = new Set(all.coupons.map(({ coupon_association_id }) => coupon_association_id));
  const free = new Set<string>();
  for (const coupon of ones) {
    if (applied.has(coupon.id) && (await claimed(coupon))) free.add(coupon.id);
  }
  return ({ id }) => free.has(id);
}

/** Tells whether a coupon that is for one invoice is free for a draft: nobody has it, or the draft itself. */
export const isFreeFor =
  (context: Pick<WorkContext, 'load'>, invoiceId: InvoiceId) =>
  async ({ id }: CouponData): Promise<boolean> =>
    isHolder(await context.load(couponUse, id), invoiceId);

/** Takes a coupon that is for one invoice for one that is being made final; false where another one has it. */
export const claimFor =
  (context: Pick<WorkContext, 'execute' | 'load'>, invoiceId: InvoiceId) =>
  async ({ id }: CouponData): Promise<boolean> => {
    // Most coupons for one invoice are with an earlier one by now: that need not be asked, and remembered, each time.
    if (!isHolder(await context.load(couponUse, id), invoiceId)) return false;
    const { state } = await context.execute(couponUse, id, useCoupon(invoiceId));
    return state?.invoice_id === invoiceId;
  };

const isHolder = (use: CouponUse | null, invoiceId: InvoiceId): boolean =>
  use === null || use.invoice_id === invoiceId;
