import { type Decimal, decimal, type Instant, invalidField, textOf } from '@counterfoil/kernel';
import type { CustomerRecord } from '../customers/index.ts';
import { type CountingMeter, matches, measureOf, type UsageEvent } from '../usage/index.ts';
import { useOf } from './answer.ts';

/** The event that a use is, and what it counts. */
export interface UsageToRecord {
  readonly event: UsageEvent;
  readonly use: Decimal;
}

/**
 * The usage event of a quantity, made so that the meter counts it: the property that the meter measures is the quantity, and
 * what it filters by has the first of the values that it takes. 400 where no such event can be made.
 */
export function usageToRecord(
  { external_id }: CustomerRecord,
  meter: CountingMeter,
  { eventId, quantity, now }: { eventId: string; quantity: string; now: Instant },
): UsageToRecord {
  const { aggregation, filters, event_name } = meter;
  const amount = decimal(quantity);
  if (aggregation.expression !== null) throw notRecordable('its meter computes an expression');
  if (aggregation.field === null && !amount.eq('1')) {
    throw invalidField('/quantity', 'must be 1 to be recorded: the meter counts events');
  }
  const properties: Record<string, string> = {};
  for (const { key, values } of filters) properties[key] = values[0] ?? '';
  if (aggregation.field !== null) properties[aggregation.field] = textOf(amount);
  if (!matches(filters, properties) || measureOf(aggregation)(properties).kind === 'bad') {
    throw notRecordable('its meter would not count the event');
  }
  return {
    event: {
      event_id: eventId,
      event_name,
      external_customer_id: external_id,
      timestamp: now,
      timestamp_assigned: true,
      ...(Object.keys(properties).length === 0 ? {} : { properties }),
    },
    use: useOf(aggregation, amount),
  };
}

/** The refusal to record a use. */
export const notRecordable = (why: string) =>
  invalidField('/record', `the use of this feature cannot be recorded here: ${why}`);
