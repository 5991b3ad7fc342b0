import type { RequestContext } from '@counterfoil/engine/define';
import { type InvoiceId, invalidField, invalidOperation } from '@counterfoil/kernel';
import type { RecordOf } from '../../record/index.ts';
import { taxRateRecords, taxRateReference } from '../../taxes/index.ts';
import type { BilledTax } from '../amounts.ts';
import type { GivenBill } from '../events.ts';
import { appliedTaxId } from '../given/bill.ts';
import type { CreateInvoice } from './schema.ts';

type TaxRate = RecordOf<typeof taxRateRecords>;

/**
 * The taxes that a request names itself; null: those that apply to the customer. Throws 404 naming the field for an unknown rate,
 * and 400 for one that is not active, is there twice or is for another currency.
 */
export async function namedTaxes(
  context: RequestContext,
  id: InvoiceId,
  { currency, tax_rates, tax_rate_overrides }: CreateInvoice,
): Promise<GivenBill['taxes']> {
  const taxes: BilledTax[] = [];
  const add = (rate: TaxRate, pointer: string): void => {
    if (taxes.some(({ tax_rate_id }) => tax_rate_id === rate.id)) {
      throw invalidField(pointer, 'is there twice');
    }
    taxes.push(taxOf(id, rate));
  };
  for (const [index, rateId] of (tax_rates ?? []).entries()) {
    const rate = await taxRateRecords.referred(context, rateId, `tax_rates.${index}`);
    if (rate.tax_rate_status === 'INACTIVE') {
      throw invalidOperation(`The tax rate ${rateId} is not active.`, {
        reason: 'inactive',
        field: `tax_rates.${index}`,
      });
    }
    add(rate, `/tax_rates/${index}`);
  }
  for (const [index, override] of (tax_rate_overrides ?? []).entries()) {
    const place = `/tax_rate_overrides/${index}`;
    if (override.currency !== currency) {
      throw invalidField(`${place}/currency`, `is not ${currency}, that of the invoice`);
    }
    const code = override.tax_rate_code;
    const field = `tax_rate_overrides.${index}.tax_rate_code`;
    add(await taxRateReference(context, code, field), `${place}/tax_rate_code`);
  }
  return taxes.length === 0 ? null : taxes;
}

const taxOf = (invoiceId: InvoiceId, { id, code, name, tax }: TaxRate): BilledTax => ({
  id: appliedTaxId(invoiceId, id),
  tax_rate_id: id,
  tax_association_id: null,
  code,
  name,
  percentage: tax.tax_rate_type === 'percentage' ? tax.percentage_value : null,
  fixed: tax.tax_rate_type === 'fixed' ? tax.fixed_value : null,
});
