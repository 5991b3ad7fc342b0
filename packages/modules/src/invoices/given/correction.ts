import type { WorkContext } from '@counterfoil/engine/define';
import type { DecimalText, InvoiceId } from '@counterfoil/kernel';
import type { TaxBehavior } from '../../taxes/index.ts';
import { type BilledTax, figuresOf } from '../amounts.ts';
import type { GivenBill, InvoiceEventData } from '../events.ts';
import { type Invoice, invoice } from '../invoice.ts';
import { appliedTaxId, billOfGiven, givenLineId } from './bill.ts';

/** A line of an invoice that corrects another one. */
export interface CorrectedLine {
  /** The line of the other invoice. */
  readonly line_id: string;
  readonly display_name: string;
  readonly price_type: 'FIXED' | 'USAGE';
  /** Money; without tax, unless that is in it. */
  readonly amount: DecimalText;
  readonly tax_behavior: TaxBehavior;
}

/**
 * Makes the invoice that asks for what another one has billed too little, once: by the tax rates of that, without its coupons, which are in the
 * amounts already. It is made final at once. Fixed taxes are not asked for again.
 */
export async function draftCorrection(
  context: Pick<WorkContext, 'execute'>,
  id: InvoiceId,
  original: Invoice,
  { lines, memo }: { readonly lines: readonly CorrectedLine[]; readonly memo: string | null },
): Promise<void> {
  const given: GivenBill = {
    lines: lines.map((line, index) => givenLine(id, index, line)),
    coupons: [],
    taxes: ratesFor(id, original, lines),
  };
  const { currency } = original;
  const taxation = { taxes: given.taxes ?? [], exemption: original.tax_exemption };
  const figures = figuresOf(billOfGiven({ id, currency }, given, taxation));
  const drafted = draftOf(id, original, given, memo);
  await context.execute(invoice, id, (state, at) =>
    state !== null
      ? []
      : [
          { type: 'InvoiceDrafted', data: drafted },
          { type: 'InvoiceComputed', data: { ...figures, position: null, plan: null } },
          { type: 'FinalizationStarted', data: { at } },
        ],
  );
}

/** The percentages of an invoice, on the lines that correct those that they were for; whoever has worked them out. */
const ratesFor = (
  id: InvoiceId,
  { taxes }: Invoice,
  corrected: readonly CorrectedLine[],
): BilledTax[] =>
  taxes.flatMap((tax) => {
    const { taxable_amount: _taxable, tax_amount: _tax, included_amount: _in, ...rest } = tax;
    const { shares: _shares, line_ids, ...rate } = rest;
    const own = corrected.flatMap(({ line_id }, index) =>
      line_ids?.some((each) => each === line_id) ? [givenLineId(id, index)] : [],
    );
    if (rate.percentage === null || (line_ids && own.length === 0)) return [];
    const name = rate.tax_rate_id ?? `${rate.code} ${rate.name} ${rate.percentage}`;
    return [{ ...rate, id: appliedTaxId(id, name), ...(line_ids && { line_ids: own }) }];
  });

const draftOf = (
  id: InvoiceId,
  original: Invoice,
  given: GivenBill,
  memo: string | null,
): InvoiceEventData<'InvoiceDrafted'> => ({
  id,
  invoice_type: 'ONE_OFF',
  billing_reason: 'MANUAL',
  cause: { kind: 'request' },
  given,
  customer_id: original.customer_id,
  subscription_customer_id: original.subscription_customer_id,
  subscription_id: original.subscription_id,
  currency: original.currency,
  period_start: original.period_start,
  period_end: original.period_end,
  billing_period: original.billing_period,
  billing_sequence: null,
  given_number: null,
  due_days: original.due_days,
  due_date: null,
  description: memo ?? `Correction of ${original.invoice_number}`,
  invoice_pdf_url: null,
  metadata: { corrects_invoice_id: original.id },
  finalizes_at: null,
  collection_method: original.collection_method,
  idempotency_key: null,
});

const givenLine = (
  invoiceId: InvoiceId,
  index: number,
  { display_name, price_type, amount, tax_behavior }: CorrectedLine,
): GivenBill['lines'][number] => ({
  id: givenLineId(invoiceId, index),
  ...{ kind: 'given', price_type, display_name, amount },
  ...(tax_behavior === 'inclusive' && { tax_behavior }),
  ...{ subscription_id: null, subscription_line_item_id: null },
  ...{ entity_type: null, entity_id: null, plan_display_name: null },
  ...{ price_id: null, price_unit: null, price_unit_id: null, price_unit_amount: null },
  ...{ meter_id: null, meter_display_name: null, free_quantity: null, commitment: null },
  ...{ period_start: null, period_end: null },
  quantity: '1' as DecimalText,
  metadata: {},
});
