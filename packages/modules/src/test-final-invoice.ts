import { type DecimalText, decimal, textOf, zero } from '@counterfoil/kernel';
import type { InvoiceEvent, InvoiceEventData, InvoiceLine } from './invoices/events.ts';

const text = (value: unknown): never => value as never;

/** A line of a test: its amounts default to zero, its id to its place. */
export interface TestLine {
  readonly id?: string;
  readonly price_type?: 'FIXED' | 'USAGE';
  readonly amount: string;
  readonly discount?: string;
  readonly credits?: string;
  readonly tax?: string;
}

/** Figures of an invoice that a test is about. */
export interface TestInvoice {
  readonly id?: string;
  readonly currency?: string;
  readonly customer_id?: string;
  readonly lines: readonly TestLine[];
  readonly taken?: InvoiceEventData<'InvoiceFinalized'>['taken'];
  readonly collection_method?: 'charge_automatically' | 'send_invoice';
  readonly cause?: InvoiceEventData<'InvoiceDrafted'>['cause'];
}

const lineOf = (line: TestLine, index: number): InvoiceLine => ({
  id: text(line.id ?? `line_${index + 1}`),
  kind: line.price_type === 'USAGE' ? 'usage' : 'fixed',
  subscription_id: null,
  subscription_line_item_id: null,
  entity_type: null,
  entity_id: null,
  plan_display_name: null,
  price_id: null,
  price_type: line.price_type ?? 'FIXED',
  price_unit: null,
  price_unit_id: null,
  price_unit_amount: null,
  meter_id: null,
  meter_display_name: null,
  display_name: `Line ${index + 1}`,
  quantity: text('1'),
  free_quantity: null,
  amount: text(line.amount),
  period_start: null,
  period_end: null,
  commitment: null,
  metadata: {},
  line_discount: text(line.discount ?? '0'),
  invoice_discount: text('0'),
  credits: text(line.credits ?? '0'),
  tax: text(line.tax ?? '0'),
});

/** A number of its own for each invoice of a world: that of `inv_1` is TEST-00001, which no sequence gives. */
const numberOf = (id: string): string => `TEST-${(/\d+$/.exec(id)?.[0] ?? '1').padStart(5, '0')}`;

const sum = (amounts: readonly string[]): DecimalText =>
  textOf(amounts.reduce((all, amount) => all.plus(decimal(amount)), zero));

/** The events of an invoice that is drafted and final, with lines. */
export function finalInvoice(given: TestInvoice): readonly [InvoiceEvent, InvoiceEvent] {
  const lines = given.lines.map(lineOf);
  const part = (of: (line: InvoiceLine) => string) => sum(lines.map(of));
  const subtotal = part(({ amount }) => amount);
  const total_discount = part(({ line_discount }) => line_discount);
  const total_credits = part(({ credits }) => credits);
  const total_tax = part(({ tax }) => tax);
  const total = decimal(subtotal)
    .minus(decimal(total_discount))
    .minus(decimal(total_credits))
    .plus(decimal(total_tax));
  const drafted: InvoiceEvent = {
    type: 'InvoiceDrafted',
    data: {
      id: text(given.id ?? 'inv_1'),
      invoice_type: 'ONE_OFF',
      billing_reason: 'MANUAL',
      cause: given.cause ?? { kind: 'request' },
      customer_id: text(given.customer_id ?? 'cust_1'),
      subscription_customer_id: null,
      subscription_id: null,
      currency: text(given.currency ?? 'usd'),
      period_start: null,
      period_end: null,
      billing_period: null,
      billing_sequence: null,
      given_number: null,
      due_days: 1,
      due_date: null,
      description: null,
      invoice_pdf_url: null,
      metadata: {},
      finalizes_at: null,
      collection_method: given.collection_method ?? null,
      idempotency_key: null,
    },
  };
  const finalized: InvoiceEvent = {
    type: 'InvoiceFinalized',
    data: {
      ...{
        lines,
        coupons: [],
        taxes: [],
        tax_exemption: null,
        subtotal,
        total_discount,
        total_credits,
        total_tax,
      },
      total: textOf(total),
      invoice_number: numberOf(given.id ?? 'inv_1'),
      position: null,
      due_date: null,
      taken: given.taken ?? [],
    },
  };
  return [drafted, finalized];
}
