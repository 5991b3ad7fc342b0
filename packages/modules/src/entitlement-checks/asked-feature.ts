import type { Records, RequestContext } from '@counterfoil/engine/define';
import { invariant, notFound } from '@counterfoil/kernel';
import { type CustomerRecord, customerReference } from '../customers/index.ts';
import {
  aggregateEntitlements,
  type FeatureEntitlement,
  type GrantsOf,
} from '../entitlements/index.ts';
import { type FeatureRecord, feature } from '../features/index.ts';
import { meter } from '../meters/index.ts';
import { type CountingMeter, countingOf } from '../usage/index.ts';
import type { EntitlementQuestion } from './schema.ts';

/** The customer and the feature of a question, and what the one is granted of the other. */
export interface AskedFeature {
  readonly customer: CustomerRecord;
  readonly feature: FeatureRecord;
  /** Null of a feature that is not metered. */
  readonly counted: CountingMeter | null;
  readonly granted: FeatureEntitlement | 'not_granted' | 'disabled';
}

/** Looks up what a question about a feature is about. 404 for a customer or feature that does not exist. */
export async function askedFeature(
  context: RequestContext,
  grantsOf: GrantsOf,
  question: EntitlementQuestion,
): Promise<AskedFeature> {
  const { recalled } = context;
  const customer = await customerReference(recalled, question);
  const found = await featureOf(recalled, question);
  const ofMeter = found.meter_id === null ? null : await recalled.load(meter, found.meter_id);
  return {
    customer,
    feature: found,
    counted: ofMeter && countingOf(ofMeter),
    granted: await grantedOf(context, grantsOf, customer.id, found.id),
  };
}

async function featureOf(
  records: Records,
  { feature_id, feature_lookup_key: key }: EntitlementQuestion,
): Promise<FeatureRecord> {
  const id = feature_id ?? (await records.holderOf(feature, 'lookup_key', key ?? ''));
  const found = id === null ? null : await records.load(feature, id);
  if (found) return found;
  throw feature_id === undefined
    ? notFound('feature', key ?? '', 'feature_lookup_key')
    : notFound('feature', feature_id, 'feature_id');
}

async function grantedOf(
  context: RequestContext,
  grantsOf: GrantsOf,
  customerId: string,
  featureId: string,
): Promise<AskedFeature['granted']> {
  const all = await grantsOf(context, customerId);
  const ofFeature = all.filter(({ feature_id }) => feature_id === featureId);
  const [granted, ...others] = aggregateEntitlements(ofFeature, context.now);
  invariant(others.length === 0, `${featureId} has several entitlements`);
  if (granted) return granted;
  return ofFeature.some(({ is_enabled }) => !is_enabled) ? 'disabled' : 'not_granted';
}
