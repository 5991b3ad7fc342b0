import type { Aggregation, Meter } from '../meters/index.ts';

/** The aggregation of a meter as questions take it: the wire leaves out what it does not have. */
export const wholeAggregation = ({ aggregation }: Pick<Meter, 'aggregation'>): Aggregation => ({
  field: null,
  expression: null,
  multiplier: null,
  bucket_size: null,
  group_by: null,
  ...(aggregation as Partial<Aggregation> & Pick<Aggregation, 'type'>),
});
