import { canonicalJson, sha256, type WindowSize } from '@counterfoil/kernel';
import type { Aggregation } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';

/**
 * The kind of figures that is kept of an hour. Several aggregations can be told from the same: a mean from the sums, a quantity times
 * a multiplier as well.
 */
export type Keeps = 'sums' | 'levels' | 'greatest' | 'latest' | 'distinct' | 'buckets' | 'groups';

/** The stretches within an hour that have a greatest value each; larger buckets are made of whole hours. */
export type BucketUnit = Extract<WindowSize, 'MINUTE' | '15MIN' | '30MIN' | 'HOUR'>;

/** A choice of events and of the figures that are kept of them, in canonical form: meters that need the same share it. */
export interface Definition {
  readonly event_name: string;
  readonly keeps: Keeps;
  readonly field: string | null;
  readonly expression: string | null;
  readonly unit: BucketUnit | null;
  readonly group_by: string | null;
  readonly filters: PropertyFilters;
}

const keepsOf = ({ type, bucket_size }: Pick<Aggregation, 'type' | 'bucket_size'>): Keeps => {
  switch (type) {
    case 'COUNT':
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
    case 'AVG':
      return 'sums';
    case 'WEIGHTED_SUM':
      return 'levels';
    case 'MAX':
      return bucket_size === null ? 'greatest' : 'buckets';
    case 'LATEST':
      return 'latest';
    case 'COUNT_UNIQUE':
      return 'distinct';
    default:
      return type satisfies never;
  }
};

/** The stretches that buckets of a size are made of. */
export const bucketUnitOf = (size: WindowSize): BucketUnit =>
  size === 'MINUTE' || size === '15MIN' || size === '30MIN' ? size : 'HOUR';

/** The definition of what an aggregation needs of the events of a name. */
export function definitionOf(
  event_name: string,
  aggregation: Aggregation,
  filters: PropertyFilters,
): Definition {
  const { field, expression, bucket_size, group_by } = aggregation;
  const keeps = keepsOf(aggregation);
  const isBucketed = keeps === 'buckets' && bucket_size !== null;
  return {
    ...{ event_name, keeps, field, expression },
    unit: isBucketed ? bucketUnitOf(bucket_size) : null,
    group_by: isBucketed ? group_by : null,
    filters: filters.map(canonicalFilter).sort(byText),
  };
}

/** The definition of sums by the values of a property; null for an aggregation that sums do not tell. */
export function groupingDefinition(
  event_name: string,
  aggregation: Aggregation,
  filters: PropertyFilters,
  property: string,
): Definition | null {
  const definition = definitionOf(event_name, aggregation, filters);
  return definition.keeps === 'sums'
    ? { ...definition, keeps: 'groups', group_by: property }
    : null;
}

const canonicalFilter = ({ key, values }: PropertyFilters[number]): PropertyFilters[number] => ({
  key,
  values: [...new Set(values)].sort(),
});

function byText(left: PropertyFilters[number], right: PropertyFilters[number]): number {
  const [a, b] = [canonicalJson(left), canonicalJson(right)];
  return a < b ? -1 : a > b ? 1 : 0;
}

const digitsOf128Bits = 32;

/** A text in 128 bits, in hexadecimal: values and groups can be too long for an index. */
export const digestOf = (text: string): string => sha256(text).slice(0, digitsOf128Bits);

/** The digest by which a definition is found. */
export const definitionDigest = (definition: Definition): string =>
  digestOf(canonicalJson(definition));
