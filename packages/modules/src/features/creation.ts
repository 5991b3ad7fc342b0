import type { Outcome, RequestContext } from '@counterfoil/engine/define';
import { type MeterId, Problem } from '@counterfoil/kernel';
import { groupReference } from '../groups/index.ts';
import { type CreateMeter, createMeter, meter, meterReference } from '../meters/index.ts';
import {
  createFeature,
  type FeatureData,
  type FeatureEvent,
  type FeatureState,
  feature,
} from './feature.ts';

/** A feature to be created, and the meter to be created before it, if it brings one. */
export interface FeaturePlan {
  readonly data: Omit<FeatureData, 'meter_id'>;
  readonly meter:
    | { readonly kind: 'none' }
    | { readonly kind: 'known'; readonly id: string }
    | { readonly kind: 'new'; readonly id: MeterId; readonly definition: CreateMeter };
}

/** Throws 409 when the lookup_key is taken, before anything is written. The claim says it too. */
async function assertFree(context: RequestContext, lookupKey: string | null): Promise<void> {
  if (lookupKey === null) return;
  if ((await context.holderOf(feature, 'lookup_key', lookupKey)) === null) return;
  const name = JSON.stringify(lookupKey);
  throw new Problem('already_exists', `Another feature has the lookup_key ${name}.`);
}

/**
 * Creates a feature, after its meter if it brings one. The meter comes first, so that no feature ever
 * refers to one that does not exist. When the second write does not happen, what remains is a meter
 * that nothing uses; a repetition of the request with its idempotency key continues from there.
 * `check` throws where the feature may not be created: it runs before the first write.
 */
export async function executeCreation(
  context: RequestContext,
  { data, meter: wanted }: FeaturePlan,
  check: () => Promise<void> = async () => undefined,
): Promise<Outcome<FeatureState, FeatureEvent>> {
  const meterId = wanted.kind === 'none' ? null : (wanted.id as MeterId);
  const decided = createFeature({ ...data, meter_id: meterId });
  const prepare = async () => {
    await check();
    if (data.group_id !== null) await groupReference(context, data.group_id, 'feature');
    return decided;
  };
  if (wanted.kind === 'new') {
    await context.execute(meter, wanted.id, {
      prepare: async () => {
        (await prepare())(null, context.now);
        await assertFree(context, data.lookup_key);
        return createMeter(wanted.id, wanted.definition);
      },
    });
  }
  return context.execute(feature, data.id, {
    prepare: async () => {
      if (meterId !== null) await meterReference(context, meterId);
      return prepare();
    },
  });
}
