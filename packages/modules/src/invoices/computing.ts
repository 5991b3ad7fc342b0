import type { AskingContext, WorkContext } from '@counterfoil/engine/define';
import { existing, type Instant, type InvoiceId } from '@counterfoil/kernel';
import {
  type CouponData,
  periodNumberAt,
  type SettledSubscription,
} from '../subscriptions/index.ts';
import type { BroughtAssociation } from '../taxes/index.ts';
import { type Bill, figuresOf, type Taxation, type UntaxedBill } from './amounts.ts';
import {
  type CouponedLine,
  type CouponHost,
  type CouponUse,
  couponsOn,
  couponUse,
  isForOne,
  useCoupon,
} from './coupons.ts';
import type { SettlementsCause } from './drafting/cause.ts';
import type { InvoiceFigures } from './events.ts';
import type { Invoice } from './invoice.ts';
import { lateUsageAtOnce } from './lines/late-usage.ts';
import { named } from './lines/line-id.ts';
import { type LineOrigin, linesOfParts, type Part, partsOf } from './lines/parts.ts';
import type { TaxQuestion } from './tax-calculation.ts';
import { taxationOf } from './taxation.ts';
import type { UsageReading } from './usage-readings.ts';

/** Figures, with the position of the log up to which usage counts in them; null where none does. */
export interface Computed extends InvoiceFigures {
  readonly position: string | null;
}

/** The invoice whose figures are computed. */
export type ComputedInvoice = Pick<
  Invoice,
  'id' | 'customer_id' | 'subscription_id' | 'currency' | 'period_end'
> & {
  readonly cause: SettlementsCause;
  /** Tax rates that a new subscription brings, which are not attached to it yet. */
  readonly brought?: readonly BroughtAssociation[];
  /** The purpose of its figures: to be recorded, unless it says that they are only shown. */
  readonly purpose?: TaxQuestion['purpose'];
};

/** The part of an invoice that is taken from elsewhere than from what it bills. */
export interface TakenFromElsewhere {
  /** The taxes of it. */
  readonly taxation: (bill: UntaxedBill) => Promise<Taxation>;
  /** Tells whether a coupon that is for one invoice can be taken off this one. */
  readonly claimed: (coupon: CouponData) => Promise<boolean>;
  /** The lines that it has, where it is computed again as it was. */
  readonly recorded?: InvoiceFigures['lines'];
}

/**
 * Computes an invoice from what subscriptions have settled and what was used: everything but prepaid credits, which are known
 * when it is made final (ADR 44). The same streams and the same usage give the same figures.
 *
 * @param read begins to read usage, where any is billed
 * @param claimed tells whether a coupon that is for one invoice can be taken off this one
 * @param known the settlements of one of its subscriptions, where they have just been read
 */
export async function computed(
  context: AskingContext,
  invoice: ComputedInvoice,
  read: () => Promise<UsageReading>,
  claimed: (coupon: CouponData) => Promise<boolean>,
  known: SettledSubscription | null = null,
): Promise<Computed> {
  const { purpose = 'invoice' } = invoice;
  const taxation = (bill: UntaxedBill) =>
    taxationOf(context, { invoice: taxedAs(invoice), bill, named: null, purpose });
  const taken = { taxation, claimed };
  const { figures, position } = await computedWith(context, invoice, read, taken, known);
  return { ...figures, position };
}

/** The same, with all that led to each line, by its id. */
export async function computedWith(
  context: AskingContext,
  invoice: ComputedInvoice,
  read: () => Promise<UsageReading>,
  { taxation, claimed, recorded }: TakenFromElsewhere,
  known: SettledSubscription | null = null,
): Promise<{
  readonly figures: InvoiceFigures;
  readonly bill: Bill;
  readonly position: string | null;
  readonly origins: ReadonlyMap<string, LineOrigin>;
}> {
  const parts = await partsOf(context, invoice.cause, known);
  const atOnce = lateUsageAtOnce[invoice.purpose ?? 'invoice'];
  const { lines, position } = await linesOfParts(context, parts, read, { recorded, atOnce });
  const ids = named(
    invoice.id,
    lines.map(({ line }) => line),
  );
  const uncouponed = { currency: invoice.currency, lines: ids };
  const couponed = ids.map(({ id, subscription_id }, index) => ({
    ...existing(lines[index] ?? null, 'line').of,
    id,
    subscription_id,
  }));
  const hosts = hostsOf(parts);
  const isFree = await freeCoupons(hosts, uncouponed, couponed, invoice.id, claimed);
  const untaxed = { ...uncouponed, coupons: couponsFor(invoice.id, hosts, couponed, isFree) };
  const bill = { ...untaxed, ...(await taxation(untaxed)), credits: [] };
  const origins = ids.map(
    ({ id }, index) => [id as string, existing(lines[index] ?? null, 'line').origin] as const,
  );
  return { figures: figuresOf(bill), bill, position, origins: new Map(origins) };
}

const taxedAs = (invoice: ComputedInvoice) => ({
  id: invoice.id,
  subscription_id: invoice.subscription_id,
  customer_id: invoice.customer_id,
  currency: invoice.currency,
  at: invoice.period_end ?? invoice.cause.at,
  brought: invoice.brought ?? [],
});

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

/**
 * Asks for each coupon that is for one invoice, and takes something off this one, whether it can be. In their order: those that
 * another invoice has leave more for the ones that follow.
 */
async function freeCoupons(
  hosts: readonly CouponHost[],
  bill: Omit<UntaxedBill, 'coupons'>,
  lines: readonly CouponedLine[],
  invoiceId: InvoiceId,
  claimed: (coupon: CouponData) => Promise<boolean>,
): Promise<(coupon: CouponData) => boolean> {
  const ones = new Map(
    hosts.flatMap(({ coupons }) => coupons.filter(isForOne)).map((coupon) => [coupon.id, coupon]),
  );
  const free = new Set<string>();
  if (ones.size === 0) return () => true;
  const wanted = (isFree: (coupon: CouponData) => boolean) =>
    couponsFor(invoiceId, hosts, lines, isFree);
  for (const { coupon_association_id: own } of wanted(() => true)) {
    const coupon = ones.get(own as CouponData['id']);
    if (!coupon || own === null) continue;
    const { coupons } = figuresOf({
      ...{ ...bill, taxes: [], exemption: null, credits: [] },
      coupons: wanted(({ id }) => id === own || free.has(id)),
    });
    const takes = coupons.some((each) => each.coupon_association_id === own);
    if (takes && (await claimed(coupon))) free.add(own);
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
