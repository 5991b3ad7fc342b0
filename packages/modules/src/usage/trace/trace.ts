import { type DecimalText, decimal, textOf } from '@counterfoil/kernel';
import type { Aggregation, Meter } from '../../meters/index.ts';
import {
  matches,
  measureOf,
  type Properties,
  type PropertyFilters,
} from '../aggregation/measure.ts';
import { textOfProperty } from '../aggregation/quantity.ts';

/** The result of a meter's look at one event: what it counts of it, or why nothing. */
export type MeterLook =
  | {
      readonly counted: true;
      readonly value: string | null;
      /** The number that it counts with: 1 for a text, or for the event itself (E 4.4). */
      readonly quantity: DecimalText;
    }
  | {
      readonly counted: false;
      /** Its filters name others, or what they name cannot be counted. */
      readonly fault: 'filtered' | 'bad_value';
      readonly reason: string;
    };

/** As much of a meter as says what it counts. */
export type CountingMeter = Pick<Meter, 'filters'> & { readonly aggregation: Aggregation };

/**
 * Tells what a meter counts of an event (E 4.1, E 4.2, D55): its value as the aggregation takes it, which is null
 * where only the event itself counts.
 */
export function lookOf({ filters, aggregation }: CountingMeter, properties: Properties): MeterLook {
  const filter = filters.find((each) => !matches([each], properties));
  if (filter) return { counted: false, fault: 'filtered', reason: unmatched(filter, properties) };
  const measured = measureOf(aggregation)(properties);
  switch (measured.kind) {
    case 'number':
      return { counted: true, value: textOf(measured.value), quantity: textOf(measured.value) };
    case 'text':
      return { counted: true, value: measured.text, quantity: one };
    case 'event':
      return { counted: true, value: null, quantity: one };
    case 'bad':
      return { counted: false, fault: 'bad_value', reason: measured.reason };
    default:
      return measured satisfies never;
  }
}

const one = textOf(decimal('1'));

function unmatched({ key }: PropertyFilters[number], properties: Properties): string {
  const text = textOfProperty(Object.hasOwn(properties, key) ? properties[key] : undefined);
  return text === null
    ? `has no ${key}, which the meter filters by`
    : `${key} is none that the meter counts`;
}
