import type { RequestContext } from '@counterfoil/engine/define';
import { invalidOperation, invariant, notFound } from '@counterfoil/kernel';
import { comparedCode, type TaxRateRecord, taxRate } from './tax-rate.ts';

/**
 * The published tax rate with a code, from the log and so never behind. Archived rates have given
 * their code back, so an unknown one is 404, naming the field. One that is not active: 400.
 */
export async function taxRateReference(
  context: RequestContext,
  code: string,
  field = 'tax_rate_code',
): Promise<TaxRateRecord> {
  const id = await context.holderOf(taxRate, 'code', comparedCode(code));
  if (id === null) throw notFound('tax rate', code, field);
  const record = await context.load(taxRate, id);
  invariant(record, `the tax rate ${id} holds a code before it exists`);
  if (record.tax_rate_status === 'INACTIVE') {
    throw invalidOperation(`The tax rate ${code} is not active.`, { field });
  }
  return record;
}
