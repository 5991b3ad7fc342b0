import { type RequestContext, where } from '@counterfoil/engine/define';
import { type Meter, meterRecords } from '../../meters/index.ts';
import { wholeAggregation } from '../whole-aggregation.ts';
import type { CountingMeter } from './trace.ts';

/** Meters of one question that are looked at, and features. */
export const firstPage = { limit: 1_000, offset: 0 };

/** A meter with its whole aggregation. */
export type NamedMeter = CountingMeter & Pick<Meter, 'id' | 'name' | 'event_name'>;

/** The published meters that count events of some names. */
export async function metersOf(
  context: RequestContext,
  names: readonly string[],
): Promise<readonly NamedMeter[]> {
  const { items } = await context.read.list(meterRecords.table, firstPage, [
    ...where('event_name', 'in', names),
    ...where('status', 'eq', 'published'),
  ]);
  return items.map((meter) => ({ ...meter, aggregation: wholeAggregation(meter) }));
}
