import { type AskingContext, expansion, inTable } from '@counterfoil/engine/define';
import { customerRecords } from '../customers/index.ts';
import { featuresById } from '../features/index.ts';
import { meterRecords } from '../meters/index.ts';
import { type PriceRecord, planTable, priceView } from '../offers/index.ts';
import type { CostAnalytics, CustomerMargins, FeatureMargin, PlanMargin } from './schema.ts';

const ofCustomers = expansion<CustomerMargins>({
  customer: {
    as: 'customer',
    id: ({ customer_id }) => customer_id,
    find: inTable(customerRecords.table),
  },
});

const ofPlans = expansion<PlanMargin>({
  plan: { as: 'plan', id: ({ plan_id }) => plan_id, find: inTable(planTable) },
});

const ofFeatures = expansion<FeatureMargin>({
  meter: { as: 'meter', id: ({ meter_id }) => meter_id, find: meterRecords.byIds },
});

/**
 * An answer with the records inside that `expand` asks for.
 *
 * @param prices those of the costsheet
 */
export async function withRecords(
  context: AskingContext,
  answer: CostAnalytics,
  prices: readonly PriceRecord[],
  names: readonly string[] = [],
): Promise<CostAnalytics> {
  const features = await ofFeatures.show(context, answer.features, names);
  const shown = names.includes('feature')
    ? await featuresById(
        context,
        features.flatMap(({ feature_ids }) => feature_ids),
      )
    : null;
  return {
    ...answer,
    items: await ofCustomers.show(context, answer.items, names),
    plans: await ofPlans.show(context, answer.plans, names),
    features: features.map((each) => ({
      ...each,
      ...(shown && { features: each.feature_ids.flatMap((id) => shown.get(id) ?? []) }),
      ...(names.includes('price') && { prices: pricesOf(each, prices) }),
    })),
  };
}

const pricesOf = ({ meter_id, currency }: FeatureMargin, prices: readonly PriceRecord[]) =>
  prices
    .filter((price) => price.meter_id === meter_id && price.currency === currency)
    .map(priceView);
