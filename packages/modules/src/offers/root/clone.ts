import {
  type Id,
  type IdPrefix,
  type Instant,
  invalidField,
  invariant,
  type PlanId,
  sequencedId,
} from '@counterfoil/kernel';
import type { Offer, OfferDecision, OfferEvent } from '../offer.ts';
import { dataOf } from '../price/decisions.ts';
import { type PriceData, type PriceRecord, willBeInForce } from '../price/price.ts';
import { fieldsOf } from '../records.ts';
import type { PlanRecord } from './roots.ts';
import type { ClonePlan } from './schema.ts';

/** The pair by which a copy says where it comes from. */
const sourceKey = 'source_plan_id';
const maximumPairs = 50;

/**
 * Creates a plan as a copy of another one, with all its prices in force or to come, its
 * entitlements and its credit grants: one append, so all or nothing (D16). The copies
 * have new ids, no lookup_keys and no parents; the source is not touched.
 *
 * @throws a Problem when the name is the source's or the metadata grow too large
 */
export const clonePlan =
  (id: PlanId, source: Offer, request: ClonePlan): OfferDecision =>
  (state, at) => {
    invariant(state === null, `plan ${id} is created twice`);
    invariant(source.root.kind === 'PLAN', 'only plans are cloned');
    const plan = source.root.record;
    if (request.name.trim() === plan.name.trim()) {
      throw invalidField('/name', "must differ from the source plan's name");
    }
    return [planCopy(id, plan, request), ...copies(id, source, at)];
  };

function planCopy(id: PlanId, plan: PlanRecord, request: ClonePlan): OfferEvent {
  const metadata = { ...plan.metadata, ...request.metadata, [sourceKey]: plan.id };
  if (Object.keys(metadata).length > maximumPairs) {
    const message = `would have more than ${maximumPairs} pairs, with those of the source`;
    throw invalidField('/metadata', `${message} and ${sourceKey}`);
  }
  const { name, lookup_key, description, display_order } = request;
  return {
    type: 'PlanCreated',
    data: {
      id,
      name,
      lookup_key,
      description: (description ?? plan.description) || null,
      display_order: display_order ?? plan.display_order,
      metadata,
    },
  };
}

function copies(planId: PlanId, source: Offer, at: Instant): OfferEvent[] {
  let made = 0;
  const newId = <Prefix extends IdPrefix>(prefix: Prefix): Id<Prefix> => {
    made += 1;
    return sequencedId(prefix, at, planId, made - 1);
  };
  const owner = { entity_type: 'PLAN' as const, entity_id: planId };
  return [
    ...source.prices
      .filter((price) => willBeInForce(price, at))
      .map((price): OfferEvent => {
        const data = { ...copyOf(price), ...owner, id: newId('price') };
        return { type: 'PriceCreated', data };
      }),
    ...source.entitlements.map((entitlement): OfferEvent => {
      const data = {
        ...fieldsOf(entitlement),
        ...owner,
        id: newId('ent'),
        parent_entitlement_id: null,
      };
      return { type: 'EntitlementCreated', data };
    }),
    ...source.credit_grants
      .filter(({ end_date }) => end_date === null || end_date > at)
      .map((grant): OfferEvent => {
        return {
          type: 'CreditGrantCreated',
          data: { ...fieldsOf(grant), ...owner, id: newId('cg') },
        };
      }),
  ];
}

const copyOf = (price: PriceRecord): PriceData => ({
  ...dataOf(price),
  lookup_key: null,
  parent_price_id: null,
});
