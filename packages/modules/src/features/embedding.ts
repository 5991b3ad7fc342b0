import { type AskingContext, expansion, type RequestContext } from '@counterfoil/engine/define';
import { group, groupRecords, groupView } from '../groups/index.ts';
import { meter, meterRecords, meterView } from '../meters/index.ts';
import { featureRecords } from './feature.ts';
import type { Feature } from './schema.ts';

/** The records that features show inside, from the read model. */
export const featureExpansion = expansion<Feature>({
  meters: { as: 'meter', id: ({ meter_id }) => meter_id, find: meterRecords.byIds, always: true },
  groups: { as: 'group', id: ({ group_id }) => group_id, find: groupRecords.byIds, always: true },
});

/** A feature with its meter and group from the log, for the answer to a write. */
export async function embeddedNow(context: RequestContext, shown: Feature): Promise<Feature> {
  const { meter_id, group_id } = shown;
  const meterNow = meter_id === undefined ? null : await context.load(meter, meter_id);
  const groupNow = group_id === undefined ? null : await context.load(group, group_id);
  return {
    ...shown,
    ...(meterNow && { meter: meterView(meterNow) }),
    ...(groupNow && { group: groupView(groupNow) }),
  };
}

/**
 * Features by id with meters and groups, archived ones included, for records that show them inside.
 */
export async function featuresById(
  context: AskingContext,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, Feature>> {
  const found = await featureRecords.byIds(context, ids);
  const shown = await featureExpansion.show(context, [...found.values()]);
  return new Map(shown.map((each) => [each.id, each]));
}
