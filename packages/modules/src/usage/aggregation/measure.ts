import { type Decimal, zero } from '@counterfoil/kernel';
import { type Aggregation, evaluation, NoValue } from '../../meters/index.ts';
import { quantityOf, textOfProperty } from './quantity.ts';

/** The properties of a usage event. */
export type Properties = Readonly<Record<string, unknown>>;

/** The part of an event that an aggregation takes. */
export type MeasuredEvent =
  | { readonly kind: 'number'; readonly value: Decimal }
  | { readonly kind: 'text'; readonly text: string }
  /** It is there, and that is all. */
  | { readonly kind: 'event' }
  /** It is counted in nothing until the meter says otherwise (D55). */
  | { readonly kind: 'bad'; readonly reason: string };

/** The part of one event, or of several that were summed up. */
export type Measured = MeasuredEvent | SummedUp;

/** Several events as one: all of them lie at the time of their reading or after it. */
export interface SummedUp {
  readonly kind: 'sums';
  /** Values; for COUNT_UNIQUE, of those that are different and come nowhere else. */
  readonly count: number;
  readonly total: Decimal;
  /** The sum of each value times the milliseconds from the time of the reading to its own. */
  readonly moment: Decimal;
}

const own = (properties: Properties, name: string): unknown =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** Makes the measure of an aggregation: what it takes from the properties of an event (E 4.1, D55, D56). */
export function measureOf({
  type,
  field,
  expression,
}: Pick<Aggregation, 'type' | 'field' | 'expression'>): (properties: Properties) => MeasuredEvent {
  if (expression !== null) return calculated(expression);
  if (field === null) return () => ({ kind: 'event' });
  if (type === 'COUNT_UNIQUE') {
    return (properties) => {
      const text = textOfProperty(own(properties, field));
      return text === null ? bad(`has no ${field}`) : { kind: 'text', text };
    };
  }
  return (properties) => {
    const given = own(properties, field);
    const value = quantityOf(given);
    if (value !== null) return { kind: 'number', value };
    return bad(given === undefined ? `has no ${field}` : `${field} is no number`);
  };
}

const bad = (reason: string): MeasuredEvent => ({ kind: 'bad', reason });

function calculated(expression: string): (properties: Properties) => MeasuredEvent {
  const evaluate = evaluation(expression);
  return (properties) => {
    try {
      const value = evaluate((name) => {
        const given = own(properties, name);
        // A missing property is 0 (D56).
        if (given === undefined || given === null) return zero;
        const quantity = quantityOf(given);
        if (quantity === null) throw new NoValue(`${name} is no number`);
        return quantity;
      });
      return { kind: 'number', value };
    } catch (error) {
      if (error instanceof NoValue) return bad(error.message);
      throw error;
    }
  };
}

/** Values of which an event must have one, by property; all of them must match. */
export type PropertyFilters = readonly {
  readonly key: string;
  readonly values: readonly string[];
}[];

/** Tells whether an event counts (E 4.2): a missing property matches nothing. */
export const matches = (filters: PropertyFilters, properties: Properties): boolean =>
  filters.every(({ key, values }) => {
    const text = propertyText(properties, key);
    return text !== null && values.includes(text);
  });

/** The text of a property, as filters and groups compare it; null for none. */
export const propertyText = (properties: Properties, name: string): string | null =>
  textOfProperty(own(properties, name));

/** The group that an event is in: a missing property is the group `""` (D56). */
export const groupOf = (properties: Properties, name: string): string =>
  propertyText(properties, name) ?? '';
