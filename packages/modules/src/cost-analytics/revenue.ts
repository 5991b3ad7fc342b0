import { type RequestContext, where } from '@counterfoil/engine/define';
import { type Decimal, decimal, invalidOperation, type Span, zeroText } from '@counterfoil/kernel';
import {
  type Invoice,
  type InvoiceLine,
  invoice,
  invoiceNet,
  invoiceTable,
} from '../invoices/index.ts';
import { subscription } from '../subscriptions/index.ts';

/** Final invoices of one customer that are looked at. */
const invoicesMaximum = 500;

/** Money that a line of an invoice has brought. */
export interface Revenue {
  readonly currency: string;
  /** After discounts and everything that was given back, without tax. */
  readonly amount: Decimal;
  readonly plan_id: string | null;
  readonly meter_id: string | null;
}

/**
 * The revenue of a customer in a span: lines of final invoices whose time begins in it; those without a time of their own count when their
 * invoice was made final. Credits are a means of payment, and what buys them is no revenue. Throws 400 for a customer with too many
 * invoices.
 */
export async function revenueOf(
  context: RequestContext,
  customerId: string,
  span: Span,
): Promise<readonly Revenue[]> {
  const plans = new Map<string, string | null>();
  const planOf = async (id: string | null): Promise<string | null> => {
    if (id === null) return null;
    const known = plans.get(id);
    if (known !== undefined) return known;
    const plan = (await context.load(subscription, id))?.plan_id ?? null;
    plans.set(id, plan);
    return plan;
  };
  const revenue: Revenue[] = [];
  for (const id of await invoiceIds(context, customerId)) {
    const state = await context.load(invoice, id);
    if (state?.invoice_status !== 'FINALIZED' || state.cause.kind === 'purchase') continue;
    const back = givenBackOf(state);
    for (const line of state.lines) {
      if (!isIn(span, line.period_start ?? state.finalized_at)) continue;
      revenue.push({
        currency: state.currency,
        amount: withoutTax(line).minus(back.get(line.id) ?? decimal(zeroText)),
        plan_id: await planOf(line.subscription_id ?? state.subscription_id),
        meter_id: line.meter_id,
      });
    }
  }
  return revenue;
}

/** The invoices for what a customer has used: their own, and those that somebody else pays for them. */
async function invoiceIds(context: RequestContext, customerId: string): Promise<readonly string[]> {
  const final = where('invoice_status', 'in', ['FINALIZED']);
  const own = { limit: invoicesMaximum, offset: 0 };
  const paid = await context.read.list(invoiceTable, own, [
    ...where('customer_id', 'eq', customerId),
    ...final,
  ]);
  const used = await context.read.list(invoiceTable, own, [
    ...where('subscription_customer_id', 'eq', customerId),
    ...final,
  ]);
  if (Math.max(paid.pagination.total, used.pagination.total) > invoicesMaximum) {
    throw invalidOperation(`${customerId} has more than ${invoicesMaximum} invoices.`, {
      reason: 'limit_reached',
      limit: invoicesMaximum,
    });
  }
  return [
    ...paid.items.filter((each) => each.subscription_customer_id === null),
    ...used.items,
  ].map(({ id }) => id);
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
