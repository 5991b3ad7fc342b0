import type { RequestContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  decimal,
  digitsFault,
  type InvoiceId,
  invalidField,
  invariant,
  notFound,
  textOf,
  writable,
  zero,
} from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { settingOf } from '../../settings/index.ts';
import { payerOf, type Subscription, subscription } from '../../subscriptions/index.ts';
import { figuresOf } from '../amounts.ts';
import type { InvoiceDecision } from '../decisions.ts';
import { daysOfTerms } from '../drafting/draft.ts';
import type { GivenBill, InvoiceEventData } from '../events.ts';
import { billOfGiven, givenLineId, untaxedOfGiven } from '../given/bill.ts';
import { taxationOf } from '../taxation.ts';
import { givenCoupons, type NamedCoupon, namedCoupons } from './coupons.ts';
import type { CreateInvoice, GivenLine } from './schema.ts';
import { namedTaxes } from './taxes.ts';

/** An invoice that a request asks for, with the coupons that have to be redeemed for it. */
export interface PreparedInvoice {
  readonly create: InvoiceDecision;
  readonly coupons: readonly NamedCoupon[];
}

/**
 * Looks up everything that a request for an invoice names, and computes it. Nothing is written. Throws 404 for what is not
 * there, and 400 naming the field for what does not fit.
 */
export async function prepareInvoice(
  context: RequestContext,
  id: InvoiceId,
  body: CreateInvoice,
): Promise<PreparedInvoice> {
  const { customer_id, currency } = body;
  writable(await customerReference(context, { customer_id }), 'customer', customer_id);
  const owner = await subscriptionOf(context, body);
  await assertOwnNumber(context, body.invoice_number ?? null);
  assertPeriod(body.period_start, body.period_end, '');
  const lines = givenLines(id, body);
  const coupons = await namedCoupons(context, body, lines);
  const given: GivenBill = {
    lines,
    coupons: givenCoupons(coupons, lines),
    taxes: await namedTaxes(context, id, body),
  };
  const taxation = await taxationOf(context, {
    invoice: taxedInvoice(context, id, body),
    ...{ bill: untaxedOfGiven({ id, currency }, given), named: given.taxes, purpose: 'invoice' },
  });
  const figures = figuresOf(billOfGiven({ id, currency }, given, taxation));
  assertTotals(body, figures);
  const drafted = { ...draftOf(context, id, body), given, due_days: await dueDays(context, owner) };
  return {
    coupons,
    create: (state, at) => {
      invariant(state === null, `invoice ${id} is made twice`);
      return [
        { type: 'InvoiceDrafted', data: drafted },
        { type: 'InvoiceComputed', data: { ...figures, position: null, plan: null } },
        ...(body.invoice_status === 'DRAFT'
          ? []
          : [{ type: 'FinalizationStarted' as const, data: { at } }]),
      ];
    },
  };
}

const dueDays = async (context: RequestContext, owner: Subscription | null): Promise<number> =>
  daysOfTerms(owner) ?? (await settingOf(context, 'invoice_config')).due_date_days;

const taxedInvoice = (context: RequestContext, id: InvoiceId, body: CreateInvoice) => ({
  id,
  subscription_id: body.subscription_id ?? null,
  customer_id: body.customer_id,
  currency: body.currency,
  at: body.period_end ?? context.now,
});

const draftOf = (
  context: RequestContext,
  id: InvoiceId,
  body: CreateInvoice,
): Omit<InvoiceEventData<'InvoiceDrafted'>, 'given' | 'due_days'> => ({
  id,
  invoice_type: body.invoice_type,
  billing_reason: body.billing_reason,
  cause: { kind: 'request' },
  customer_id: body.customer_id,
  subscription_customer_id: null,
  subscription_id: body.subscription_id ?? null,
  currency: body.currency,
  period_start: body.period_start ?? null,
  period_end: body.period_end ?? null,
  billing_period: body.billing_period ?? null,
  billing_sequence: null,
  given_number: body.invoice_number ?? null,
  due_date: body.due_date ?? null,
  description: body.description ?? null,
  invoice_pdf_url: body.invoice_pdf_url ?? null,
  metadata: body.metadata,
  finalizes_at: null,
  collection_method: null,
  idempotency_key: context.idempotencyKey,
});

/** The subscription that an invoice is said to belong to is one of the customer: as user, or as who pays. */
async function subscriptionOf(
  context: RequestContext,
  { subscription_id, customer_id }: CreateInvoice,
): Promise<Subscription | null> {
  if (!subscription_id) return null;
  const state = await context.load(subscription, subscription_id);
  if (state === null) throw notFound('subscription', subscription_id, 'subscription_id');
  if (customer_id === state.customer_id || customer_id === payerOf(state)) return state;
  throw invalidField('/subscription_id', 'belongs to another customer than customer_id');
}

/** A number of the caller's own must not look like those of the sequence, which would have to pass it over some day. */
async function assertOwnNumber(context: RequestContext, number: string | null): Promise<void> {
  if (number === null) return;
  const { prefix, separator } = await settingOf(context, 'invoice_config');
  const start = `${prefix}${separator}`;
  if (number.startsWith(start)) {
    throw invalidField(
      '/invoice_number',
      `must not begin with ${start}, as those that are given here`,
    );
  }
}

function assertPeriod(
  start: string | null | undefined,
  end: string | null | undefined,
  place: string,
): void {
  if (start && end && end < start) {
    throw invalidField(`${place}/period_end`, 'must not be before period_start');
  }
}

/** The lines of a request; without any the subtotal is one. Throws 400 where they do not add up to it (D58). */
function givenLines(id: InvoiceId, body: CreateInvoice): GivenBill['lines'] {
  const { currency, subtotal, line_items } = body;
  assertDigits(subtotal, currency, '/subtotal');
  if (!line_items || line_items.length === 0) {
    const display_name = body.description?.slice(0, 255) || 'Amount';
    return [
      lineOf(id, 0, { amount: subtotal, quantity: '1' as DecimalText, display_name, metadata: {} }),
    ];
  }
  const lines = line_items.map((line, index) => {
    const place = `/line_items/${index}`;
    assertDigits(line.amount, currency, `${place}/amount`);
    assertPeriod(line.period_start, line.period_end, place);
    return lineOf(id, index, line);
  });
  const sum = textOf(lines.reduce((all, { amount }) => all.plus(decimal(amount)), zero));
  if (sum !== subtotal) {
    throw invalidField('/subtotal', `is ${subtotal}, and the lines come to ${sum}`);
  }
  return lines;
}

function assertDigits(amount: DecimalText, currency: CreateInvoice['currency'], pointer: string) {
  const fault = digitsFault(amount, currency);
  if (fault !== null) throw invalidField(pointer, fault);
}

const lineOf = (
  invoiceId: InvoiceId,
  index: number,
  line: Partial<GivenLine> & Pick<GivenLine, 'amount' | 'quantity' | 'metadata'>,
): GivenBill['lines'][number] => ({
  id: givenLineId(invoiceId, index),
  kind: 'given',
  subscription_id: line.subscription_id ?? null,
  subscription_line_item_id: line.subscription_line_item_id ?? null,
  entity_type: line.entity_type ?? (line.plan_id ? 'plan' : null),
  entity_id: line.entity_id ?? line.plan_id ?? null,
  plan_display_name: line.plan_display_name ?? null,
  price_id: line.price_id ?? null,
  price_type: line.price_type ?? 'FIXED',
  price_unit: line.price_unit ?? null,
  price_unit_id: null,
  price_unit_amount: line.price_unit_amount ?? null,
  meter_id: line.meter_id ?? null,
  meter_display_name: line.meter_display_name ?? null,
  display_name: line.display_name ?? line.meter_display_name ?? line.plan_display_name ?? 'Amount',
  quantity: line.quantity,
  free_quantity: line.adjusted_entitlement_quantity ?? null,
  amount: line.amount,
  ...(line.tax_behavior === 'inclusive' && { tax_behavior: 'inclusive' as const }),
  period_start: line.period_start ?? null,
  period_end: line.period_end ?? null,
  commitment: null,
  metadata: line.metadata,
});

/** A total that is given is what the lines come to, or what is left after discounts and taxes: anything else is a mistake. */
function assertTotals(
  { subtotal, total, amount_due }: CreateInvoice,
  figures: { readonly total: DecimalText },
): void {
  for (const [name, given] of Object.entries({ total, amount_due })) {
    if (given === subtotal || given === figures.total) continue;
    throw invalidField(
      `/${name}`,
      `is ${given}: it has to be the subtotal, ${subtotal}, or what the invoice comes to, ${figures.total}`,
    );
  }
}
