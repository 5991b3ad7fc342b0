import { type AskingContext, where } from '@counterfoil/engine/define';
import { invalidField } from '@counterfoil/kernel';
import { type Feature, featureRecords, featuresById } from '../../features/index.ts';
import { type Meter, meterRecords } from '../../meters/index.ts';
import { analyticsLimits } from './limits.ts';

/** A meter, and a feature that it measures, if it is asked by one. */
export interface Subject {
  readonly meter: Meter;
  readonly feature: Feature | null;
}

/** The features and meters that a request names. */
export interface AskedSubjects {
  readonly feature_ids?: readonly string[] | undefined;
  readonly meter_ids?: readonly string[] | undefined;
}

/** The meters and features that are asked for; every metered feature where none is. Unknown ones have no usage. */
export async function subjectsOf(
  context: AskingContext,
  { feature_ids = [], meter_ids = [] }: AskedSubjects,
): Promise<readonly Subject[]> {
  const byMeter = meter_ids.length === 0 ? [] : await metersById(context, meter_ids);
  const meters = byMeter.map((meter) => ({ meter, feature: null }));
  if (feature_ids.length === 0 && meter_ids.length > 0) return meters;
  const { items, pagination } = await context.read.list(
    featureRecords.table,
    { limit: analyticsLimits.features, offset: 0, sort: [{ column: 'name', order: 'asc' }] },
    [
      ...where('type', 'eq', 'metered'),
      ...where('status', 'eq', 'published'),
      ...where('id', 'in', feature_ids.length === 0 ? null : feature_ids),
    ],
  );
  if (pagination.total > items.length) {
    const most = `at most ${analyticsLimits.features} features: there are ${pagination.total}`;
    throw invalidField('/feature_ids', `must name ${most}`);
  }
  const whole = await featuresById(
    context,
    items.map(({ id }) => id),
  );
  const features = items.flatMap(({ id }): Subject[] => {
    const feature = whole.get(id);
    return feature?.meter ? [{ meter: feature.meter, feature }] : [];
  });
  return [...features, ...meters];
}

/** The meters with some ids, whatever became of them; those that nobody knows are left out. */
async function metersById(context: AskingContext, ids: readonly string[]): Promise<Meter[]> {
  const found = await meterRecords.byIds(context, ids);
  return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
}
