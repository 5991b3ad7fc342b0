import { type RequestContext, where } from '@counterfoil/engine/define';
import type { FeatureEntitlement } from '../../entitlements/index.ts';
import { type Feature, featureRecords, featuresById } from '../../features/index.ts';
import type { UsageChoice } from './schema.ts';

/** A page of features, and how many there are. */
export interface ChosenFeatures {
  readonly features: readonly Feature[];
  readonly total: number;
}

/**
 * The features that a summary shows: every metered one, whether or not anything grants it, then what is granted
 * otherwise, static before boolean; each kind by name. Those of named subscriptions alone where some are named.
 *
 * @param granted what the subscriptions grant
 */
export async function chosenFeatures(
  context: RequestContext,
  granted: readonly FeatureEntitlement[],
  choice: UsageChoice,
): Promise<ChosenFeatures> {
  const asked = await askedIds(context, choice);
  const others = await grantedOthers(context, granted, asked);
  const isOfSubscriptions = (choice.subscription_ids ?? []).length > 0;
  const grantedIds = granted.map(({ feature_id }) => feature_id);
  const among = isOfSubscriptions ? common(asked, grantedIds) : asked;
  const { limit, offset } = choice;
  const metered = await context.read.list(
    featureRecords.table,
    { limit, offset, sort: [{ column: 'name', order: 'asc' }] },
    [
      ...where('type', 'eq', 'metered'),
      ...where('status', 'eq', 'published'),
      ...where('id', 'in', among),
    ],
  );
  const { total } = metered.pagination;
  const past = Math.max(0, offset - total);
  const rest = others.slice(past, past + limit - metered.items.length);
  const whole = await featuresById(
    context,
    metered.items.map(({ id }) => id),
  );
  return {
    features: [...metered.items.map((each) => whole.get(each.id) ?? each), ...rest],
    total: total + others.length,
  };
}

/** The ids that a request asks for, by themselves or by lookup keys; null for all. A key that nobody has names none. */
async function askedIds(
  context: RequestContext,
  { feature_ids = [], feature_lookup_keys: keys = [] }: UsageChoice,
): Promise<readonly string[] | null> {
  if (feature_ids.length === 0 && keys.length === 0) return null;
  if (keys.length === 0) return feature_ids;
  const page = { limit: keys.length, offset: 0 };
  const { items } = await context.read.list(featureRecords.table, page, [
    ...where('lookup_key', 'in', keys),
    ...where('status', 'eq', 'published'),
  ]);
  return [...feature_ids, ...items.map(({ id }) => id)];
}

const common = (asked: readonly string[] | null, ids: readonly string[]): readonly string[] =>
  asked === null ? ids : ids.filter((id) => asked.includes(id));

async function grantedOthers(
  context: RequestContext,
  granted: readonly FeatureEntitlement[],
  asked: readonly string[] | null,
): Promise<readonly Feature[]> {
  const ids = granted.flatMap(({ feature_type, feature_id }) =>
    feature_type === 'metered' ? [] : [feature_id],
  );
  const found = await featuresById(context, [...common(asked, ids)]);
  return [...found.values()].sort(
    (left, right) =>
      inOrder(right.type, left.type) ||
      inOrder(left.name, right.name) ||
      inOrder(left.id, right.id),
  );
}

const inOrder = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
