import type { RequestContext } from '@counterfoil/engine/define';
import { invalidField, notFound, zeroText } from '@counterfoil/kernel';
import { type Aggregation, meter } from '../../meters/index.ts';
import { usageInGroups } from '../analytics/usage-in-groups.ts';
import { askedCustomer } from '../asked-customer.ts';
import { askedSpan } from '../asked-span.ts';
import type { MeterUsage, MeterUsageQuestion } from './schema.ts';

/**
 * The usage that a meter counts, with its events. The aggregation has to be the meter's own: 400 for another one.
 *
 * @param place the pointer to the meter in the request, and the name of its field
 */
export async function meterUsage(
  context: RequestContext,
  id: string,
  question: MeterUsageQuestion,
  field: string,
): Promise<MeterUsage> {
  const counted = await context.recalled.load(meter, id);
  if (!counted) throw notFound('meter', id, field);
  const aggregation = counted.aggregation as Aggregation;
  const { aggregation_type: type, window_size: size, billing_anchor: anchor } = question;
  if (type !== aggregation.type) {
    throw invalidField('/aggregation_type', `must be that of the meter ${id}, ${aggregation.type}`);
  }
  const { customer, zone } = await askedCustomer(context, question);
  const [usage] = await usageInGroups(context, {
    of: { eventName: counted.event_name, customer },
    aggregation,
    filters: counted.filters,
    sources: [],
    groupings: [],
    span: askedSpan(context.now, question),
    zone,
    windows: size === undefined ? null : { size, zone, anchor },
  });
  return {
    meter_id: id,
    aggregation_type: type,
    total_value: usage ? usage.value : isZeroOfNothing(type) ? zeroText : null,
    event_count: usage?.events ?? 0,
    ...(size === undefined
      ? {}
      : {
          points: (usage?.windows ?? []).map((window) => ({
            timestamp: window.start,
            value: window.value,
            event_count: window.events,
          })),
        }),
  };
}

/** Counts and sums of nothing are 0, others have no value (D56). */
const isZeroOfNothing = (type: Aggregation['type']): boolean =>
  type === 'COUNT' || type === 'SUM' || type === 'COUNT_UNIQUE' || type === 'SUM_WITH_MULTIPLIER';
