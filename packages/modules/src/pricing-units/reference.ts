import type { RequestContext } from '@counterfoil/engine/define';
import { invariant, notFound } from '@counterfoil/kernel';
import { comparedCode, type PriceUnitRecord, priceUnit } from './price-unit.ts';

/**
 * The published pricing unit with a code, from the log and so never behind. Archived units have
 * given their code back, so an unknown one is 404, naming the field.
 */
export async function priceUnitReference(
  context: RequestContext,
  code: string,
  field = 'price_unit',
): Promise<PriceUnitRecord> {
  const id = await context.holderOf(priceUnit, 'code', comparedCode(code));
  if (id === null) throw notFound('pricing unit', code, field);
  const record = await context.load(priceUnit, id);
  invariant(record, `the pricing unit ${id} holds a code before it exists`);
  return record;
}
