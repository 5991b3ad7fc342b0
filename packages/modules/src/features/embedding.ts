import type { RequestContext } from '@counterfoil/engine/define';
import { type Group, group, groupRecords, groupView } from '../groups/index.ts';
import { type Meter, meter, meterRecords, meterView } from '../meters/index.ts';
import { featureRecords } from './feature.ts';
import type { Feature } from './schema.ts';

const withInside = (
  shown: Feature,
  ofIt: { readonly meter?: Meter | undefined; readonly group?: Group | undefined },
): Feature => ({
  ...shown,
  ...(ofIt.meter && { meter: ofIt.meter }),
  ...(ofIt.group && { group: ofIt.group }),
});

/** Features with their meters and groups from the read model: one look-up of each for all. */
export async function embedded(
  context: RequestContext,
  features: readonly Feature[],
): Promise<Feature[]> {
  const meters = await meterRecords.byIds(
    context,
    features.map(({ meter_id }) => meter_id),
  );
  const groups = await groupRecords.byIds(
    context,
    features.map(({ group_id }) => group_id),
  );
  return features.map((shown) =>
    withInside(shown, {
      meter: meters.get(shown.meter_id ?? ''),
      group: groups.get(shown.group_id ?? ''),
    }),
  );
}

/** A feature with its meter and group from the log, for the answer to a write. */
export async function embeddedNow(context: RequestContext, shown: Feature): Promise<Feature> {
  const { meter_id, group_id } = shown;
  const meterNow = meter_id === undefined ? null : await context.load(meter, meter_id);
  const groupNow = group_id === undefined ? null : await context.load(group, group_id);
  return withInside(shown, {
    meter: meterNow ? meterView(meterNow) : undefined,
    group: groupNow ? groupView(groupNow) : undefined,
  });
}

/**
 * Features by id with meters and groups, archived ones included, for records that show them inside.
 */
export async function featuresById(
  context: RequestContext,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, Feature>> {
  const found = await featureRecords.byIds(context, ids);
  const shown = await embedded(context, [...found.values()]);
  return new Map(shown.map((each) => [each.id, each]));
}
