import { type RequestContext, where } from '@counterfoil/engine/define';
import {
  type Decimal,
  decimal,
  invalidOperation,
  type Problem,
  type Span,
  zeroText,
} from '@counterfoil/kernel';
import {
  type Invoice,
  type InvoiceLine,
  invoice,
  invoiceNet,
  invoiceTable,
} from '../invoices/index.ts';
import { once } from '../offers/index.ts';
import { type SubscriptionState, subscription } from '../subscriptions/index.ts';

/** Final invoices of one item that are looked at. */
const invoicesMaximum = 500;

/** Money that a line of an invoice has brought. */
export interface Revenue {
  readonly currency: string;
  /** After discounts and everything that was given back, without tax; null where nothing of the line is asked for. */
  readonly amount: Decimal | null;
  readonly plan_id: string | null;
  readonly meter_id: string | null;
}

/** Tells how much of what a line has brought is asked for; null where the line is not. */
export type PartOfLine = (line: InvoiceLine, brought: Brought) => Promise<Decimal | null>;

/** The money of a line, and the subscription that it is of. */
export interface Brought {
  readonly amount: Decimal;
  readonly currency: string;
  readonly subscription: SubscriptionState;
}

/** All of every line. */
export const wholeLine: PartOfLine = async (_line, { amount }) => amount;

/**
 * The revenue of customers in a span: lines of final invoices whose time begins in it; those without a time of their own count when their
 * invoice was made final. Credits are a means of payment, and what buys them is no revenue. Throws 400 for customers with too many
 * invoices.
 */
export async function revenueOf(
  context: RequestContext,
  customerIds: readonly string[],
  span: Span,
  partOf: PartOfLine,
): Promise<readonly Revenue[]> {
  const subscriptionOf = once((id) => context.load(subscription, id));
  const revenue: Revenue[] = [];
  for (const id of await invoiceIds(context, customerIds)) {
    const state = await context.load(invoice, id);
    if (state?.invoice_status !== 'FINALIZED' || state.cause.kind === 'purchase') continue;
    const back = givenBackOf(state);
    const { currency } = state;
    for (const line of state.lines) {
      if (!isIn(span, line.period_start ?? state.finalized_at)) continue;
      const sold = line.subscription_id ?? state.subscription_id;
      const by = sold === null ? null : await subscriptionOf(sold);
      const all = withoutTax(line).minus(back.get(line.id) ?? decimal(zeroText));
      const amount = await partOf(line, { amount: all, currency, subscription: by });
      revenue.push({ currency, amount, plan_id: by?.plan_id ?? null, meter_id: line.meter_id });
    }
  }
  return revenue;
}

/** Values that one condition has: a customer may have more children. */
const portion = 500;

/** The invoices for what customers have used: their own, and those that somebody else pays for them. */
async function invoiceIds(
  context: RequestContext,
  customerIds: readonly string[],
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let from = 0; from < customerIds.length; from += portion) {
    const some = customerIds.slice(from, from + portion);
    ids.push(...(await idsOf(context, some, false)));
    ids.push(...(await idsOf(context, some, true)));
    if (ids.length > invoicesMaximum) throw tooManyInvoices(customerIds);
  }
  return ids;
}

/** Ids of final invoices, one more than there may be; `used`: of those that somebody else pays. */
async function idsOf(
  { read }: RequestContext,
  customerIds: readonly string[],
  used: boolean,
): Promise<readonly string[]> {
  const page = { limit: invoicesMaximum + 1, offset: 0 };
  const of = used
    ? where('subscription_customer_id', 'in', customerIds)
    : where('customer_id', 'in', customerIds);
  const final = where('invoice_status', 'in', ['FINALIZED']);
  const { items } = await read.list(invoiceTable, page, [...of, ...final]);
  const isTooMany = items.length > invoicesMaximum;
  // What somebody pays for another one is revenue of that one.
  const own = items.filter((each) => used || isTooMany || each.subscription_customer_id === null);
  return own.map(({ id }) => id);
}

function tooManyInvoices([id, ...children]: readonly string[]): Problem {
  const whose = children.length === 0 ? `${id} has` : `${id} and its children have`;
  return invalidOperation(`${whose} more than ${invoicesMaximum} invoices.`, {
    reason: 'limit_reached',
    limit: invoicesMaximum,
  });
}

const isIn = ({ start, end }: Span, at: string | null): boolean =>
  at !== null && start <= at && at < end;

const withoutTax = (line: InvoiceLine): Decimal =>
  invoiceNet(line).minus(decimal(line.included_tax ?? zeroText));

/** Everything that credit notes and settlements have given back of each line, without tax. */
function givenBackOf({ notes, given_back }: Invoice): ReadonlyMap<string, Decimal> {
  const back = new Map<string, Decimal>();
  for (const { line_id, amount, included_tax } of [...notes, ...given_back].flatMap(
    ({ lines }) => lines,
  )) {
    const part = decimal(amount).minus(decimal(included_tax ?? zeroText));
    back.set(line_id, (back.get(line_id) ?? decimal(zeroText)).plus(part));
  }
  return back;
}
