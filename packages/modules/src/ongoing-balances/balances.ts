import { type AskingContext, where } from '@counterfoil/engine/define';
import {
  type Currency,
  type CustomerId,
  type DecimalText,
  decimal,
  type Instant,
  invalidOperation,
  textOf,
  zero,
  zeroText,
} from '@counterfoil/kernel';
import {
  type Invoice,
  invoice,
  invoicedUnder,
  invoiceTable,
  isBilled,
  type OwedMoney,
  owedOn,
  periodInvoiceId,
  type UsageReading,
  type UsageReadings,
} from '../invoices/index.ts';
import {
  type RunningSubscription,
  rateSettled,
  settledOf,
  subscriptionsPaidBy,
  unbilledUsage,
} from '../subscriptions/index.ts';
import {
  type BorneMoney,
  inWalletOrder,
  ongoingAt,
  type Wallet,
  wallet,
  walletTable,
} from '../wallets/index.ts';
import { sharesOf } from './shares.ts';

/** Wallets of one customer and currency that bear something at most: as many as an invoice looks at. */
const walletsMaximum = 50;
/** Invoices of one customer and currency that are not paid, at most. */
const invoicesMaximum = 1_000;

/** A prepaid wallet with what it is going to pay. */
export interface BearingWallet {
  readonly wallet: Wallet;
  readonly borne: BorneMoney;
}

/** A customer who pays, and the currency. */
type Payer = Pick<Wallet, 'customer_id' | 'currency'>;

/** The prepaid wallets of a customer and a currency, in the order in which they pay. */
export interface OngoingBalances {
  readonly wallets: readonly BearingWallet[];
  /** Usage is counted up to this position of the log. */
  readonly position: string;
}

/**
 * Everything that a customer is going to pay in a currency, borne by its active prepaid wallets (E 18.8): usage of periods that run, after
 * allowances and commitments; usage of a period that has closed and has no invoice yet; and what remains of invoices. Records are read from
 * the log, so that what moves from one to the other meanwhile is on one side of it.
 *
 * @param known ids of wallets, also of such as the tables do not show yet
 */
export async function ongoingBalances(
  context: AskingContext,
  { customer_id, currency }: Payer,
  usage: UsageReadings,
  known: readonly string[],
): Promise<OngoingBalances> {
  const wallets = await bearersOf(context, { customer_id, currency }, known);
  const reading = await usage.atOnce(context);
  const { position } = reading.moment;
  if (wallets.length === 0) return { wallets: [], position };
  const running = await unbilled(reading, customer_id, currency);
  const payer = { customer_id, currency };
  const invoices = await owingInvoices(context, wallets, running.invoices, payer);
  const { now } = context;
  const owed = invoices.map((each) => owedOn(each, now));
  const held = wallets.map(({ holds }) => heldFor(holds, invoices, now));
  const worth = (each: Wallet, index: number): DecimalText =>
    ongoingAt(each, { ...nothingOwed, held: held[index] ?? zeroText }, now).money;
  const shares = sharesOf(
    wallets.map((each, index) => ({
      worth: worth(each, index),
      price_types: each.config.allowed_price_types,
    })),
    { running: running.amount, usage: sumOf(owed, 'usage'), rest: sumOf(owed, 'rest') },
  );
  return {
    position,
    wallets: wallets.map((each, index) => ({
      wallet: each,
      borne: { ...nothingOwed, ...shares[index], held: held[index] ?? zeroText },
    })),
  };
}

/** A wallet that has nothing to pay. */
export const nothingOwed: BorneMoney = {
  current_period_usage: zeroText,
  unpaid_invoices_amount: zeroText,
  held: zeroText,
};

async function bearersOf(
  context: Pick<AskingContext, 'load' | 'read'>,
  { customer_id, currency }: Payer,
  known: readonly string[],
): Promise<readonly Wallet[]> {
  const found = await context.read.ids(
    walletTable,
    [
      ...where('customer_id', 'eq', customer_id),
      ...where('currency', 'eq', currency),
      ...where('wallet_type', 'eq', 'PRE_PAID'),
      ...where('wallet_status', 'eq', 'active'),
    ],
    walletsMaximum,
  );
  const states = await Promise.all(
    [...new Set([...known, ...found])].map((id) => context.load(wallet, id)),
  );
  return states
    .flatMap((state) =>
      state?.wallet_status === 'active' &&
      state.wallet_type === 'PRE_PAID' &&
      state.currency === currency
        ? [state]
        : [],
    )
    .toSorted(inWalletOrder);
}

/** The usage that is on no invoice, and the ids of the invoices of the periods that have closed last. */
async function unbilled(
  { context, moment }: UsageReading,
  customerId: CustomerId,
  currency: Currency,
): Promise<{ readonly amount: DecimalText; readonly invoices: readonly Invoice[] }> {
  let amount = zero;
  const invoices: Invoice[] = [];
  for (const state of await subscriptionsPaidBy(context, customerId, currency)) {
    const used = decimal(await unbilledUsage(context, state, moment));
    amount = amount.plus(used).minus(await billedByAmount(context, state));
    const last = await invoiceOfLastPeriod(context, state);
    if (last === null) {
      amount = amount.plus(await closedUsage(context, state, moment));
    } else invoices.push(last);
  }
  return { amount: textOf(amount), invoices };
}

/** Invoices by amount of one period that are looked at: each bills the amount of its threshold at least. */
const partsMaximum = 1_000;

/** The usage of the running period that invoices by amount have billed before it closes: they are owed, or were paid, in its place. */
async function billedByAmount(
  context: Pick<AskingContext, 'load' | 'read'>,
  { id, opened, threshold_count }: RunningSubscription,
) {
  let sum = zero;
  if (threshold_count === 0) return sum;
  const ids = await context.read.ids(
    invoiceTable,
    [
      ...where('subscription_id', 'eq', id),
      ...where('billing_reason', 'eq', 'AUTO_INVOICE_THRESHOLD'),
      ...where('period_start', 'gte', opened.start),
    ],
    partsMaximum,
  );
  for (const each of ids) {
    const state = await context.load(invoice, each);
    // Another one bills again what a void one had billed.
    if (state === null || state.recalculated_invoice_id !== null) continue;
    for (const { price_type, amount } of state.lines) {
      if (price_type === 'USAGE') sum = sum.plus(decimal(amount));
    }
  }
  return sum;
}

/** The invoice on which the period before the one that runs was billed; null where there is none, or none yet. */
async function invoiceOfLastPeriod(
  context: Pick<AskingContext, 'load'>,
  state: RunningSubscription,
): Promise<Invoice | null> {
  const { start, index } = state.opened;
  const closing = { reason: 'period_closed' as const, period_index: index - 1, lines: [] };
  const own = await context.load(invoice, periodInvoiceId(state.id, start));
  // One that is invoiced with others has an invoice of its own where it has many lines, or for the charge in advance alone.
  const isOwn = own?.lines.some(
    ({ price_type, period_end }) => price_type === 'USAGE' && period_end === start,
  );
  const found = isOwn
    ? own
    : await context.load(invoice, periodInvoiceId(invoicedUnder(state, closing), start));
  // One without figures was drafted a moment ago.
  return found?.last_computed_at === null ? null : found;
}

/** The usage of a period that was closed, and whose invoice is still to be drafted. */
async function closedUsage(
  context: AskingContext,
  { id, opened }: RunningSubscription,
  moment: UsageReading['moment'],
) {
  if (opened.index === 0) return zero;
  const { settled } = await settledOf(
    context,
    id,
    (each) => each.reason === 'period_closed' && each.at === opened.start && isBilled(each),
  );
  let sum = zero;
  for (const each of settled) {
    const { stretches, commitment } = await rateSettled(context, each, moment);
    const amounts = commitment
      ? commitment.rated.lines.flatMap(({ utilized, overage }) => [utilized, overage])
      : stretches.map(({ net }) => net.amount);
    for (const rated of amounts) sum = sum.plus(decimal(rated));
  }
  return sum;
}

/** The invoices that may be owed something, as the log has them. Throws 400 for more than can be looked at. */
async function owingInvoices(
  context: Pick<AskingContext, 'load' | 'read'>,
  wallets: readonly Wallet[],
  known: readonly Invoice[],
  { customer_id: customerId, currency }: Payer,
): Promise<readonly Invoice[]> {
  const found = await context.read.ids(
    invoiceTable,
    [
      ...where('customer_id', 'eq', customerId),
      ...where('currency', 'eq', currency),
      ...where('owing', 'in', ['final', 'draft']),
    ],
    invoicesMaximum + 1,
  );
  if (found.length > invoicesMaximum) {
    throw invalidOperation(
      `Customer ${customerId} has more than ${invoicesMaximum} unpaid invoices in ${currency}: they are not added up at once.`,
      { reason: 'limit_reached', limit: invoicesMaximum },
    );
  }
  const holding = wallets.flatMap(({ holds }) =>
    holds.flatMap(({ invoice_id }) => invoice_id ?? []),
  );
  const states = new Map<string, Invoice>(known.map((each) => [each.id, each]));
  for (const id of new Set<string>([...found, ...holding])) {
    if (states.has(id)) continue;
    const state = await context.load(invoice, id);
    if (state !== null) states.set(id, state);
  }
  return [...states.values()].filter(
    (each) => each.customer_id === customerId && each.currency === currency,
  );
}

/** The credits that a wallet holds for drafts which are owed: until these are final, they are not paid. */
function heldFor(holds: Wallet['holds'], invoices: readonly Invoice[], now: Instant): DecimalText {
  const drafts = new Set<string>(
    invoices
      .filter((each) => each.invoice_status === 'DRAFT' && isOwed(owedOn(each, now)))
      .map(({ id }) => id),
  );
  return textOf(
    holds
      .filter(({ invoice_id }) => invoice_id !== undefined && drafts.has(invoice_id))
      .reduce((sum, { credits }) => sum.plus(decimal(credits)), zero),
  );
}

const isOwed = ({ usage, rest }: OwedMoney): boolean => usage !== zeroText || rest !== zeroText;

const sumOf = (owed: readonly OwedMoney[], kind: keyof OwedMoney): DecimalText =>
  textOf(owed.reduce((sum, each) => sum.plus(decimal(each[kind])), zero));
