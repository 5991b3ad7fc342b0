import { type FilterOf, type RequestContext, where } from '@counterfoil/engine/define';
import type { GroupMembers } from '../groups/index.ts';
import { countOf, type Use } from '../uses.ts';
import { entitlementTable, priceTable } from './projection.ts';

/** Returns how many published prices have a value in a column and have not run out. */
async function pricesWith(
  context: RequestContext,
  own: readonly FilterOf<typeof priceTable>[],
): Promise<string | null> {
  const inForce = [...own, ...where('end_date', 'gt', context.now)];
  const page = { limit: 1, offset: 0 };
  const { pagination } = await context.read.list(priceTable, page, inForce);
  return countOf(pagination.total, 'price');
}

/** Returns how many prices that have not ended use a meter, in words; null for none. */
export const pricesOfMeter: Use<'meter'> = (context, id) =>
  pricesWith(context, where('meter_id', 'eq', id));

/**
 * Returns how many prices that have not ended are set in a pricing unit, in words; null for none.
 */
export const pricesOfPriceUnit: Use<'price_unit'> = (context, id) =>
  pricesWith(context, where('price_unit_id', 'eq', id));

/** Returns how many entitlements grant a feature, in words; null for none. */
export const entitlementsOfFeature: Use<'feat'> = async (context, id) => {
  const page = { limit: 1, offset: 0 };
  const granted = where('feature_id', 'eq', id);
  const { pagination } = await context.read.list(entitlementTable, page, granted);
  return countOf(pagination.total, 'entitlement');
};

/** The published prices of a group. */
export const pricesOfGroup: GroupMembers = {
  entityType: 'price',
  membersOf: async (context, groupId) => {
    const page = { limit: 1000, offset: 0 };
    const members = where('group_id', 'eq', groupId);
    const { items, pagination } = await context.read.list(priceTable, page, members);
    return { ids: items.map(({ id }) => id), total: pagination.total };
  },
};
