import { where } from '@counterfoil/engine/define';
import { countOf, type Use } from '../uses.ts';
import { priceTable } from './projection.ts';

/** Returns how many prices that have not ended use a meter, in words; null for none. */
export const pricesOfMeter: Use<'meter'> = async (context, id) => {
  const page = { limit: 1, offset: 0 };
  const inForce = [...where('meter_id', 'eq', id), ...where('end_date', 'gt', context.now)];
  const { pagination } = await context.read.list(priceTable, page, inForce);
  return countOf(pagination.total, 'price');
};
