import { clearable, decimalPlaces, positiveDecimalSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { expressionFault } from './expression.ts';

/** The way in which the events of a period become one quantity (specification §11.5; D56). */
export const aggregationTypeSchema = z.enum([
  'COUNT',
  'SUM',
  'AVG',
  'COUNT_UNIQUE',
  'LATEST',
  'SUM_WITH_MULTIPLIER',
  'MAX',
  'WEIGHTED_SUM',
]);
export type AggregationType = z.output<typeof aggregationTypeSchema>;

export const bucketSizeSchema = z.enum([
  'MINUTE',
  '15MIN',
  '30MIN',
  'HOUR',
  '3HOUR',
  '6HOUR',
  '12HOUR',
  'DAY',
  'WEEK',
  'MONTH',
]);

interface Needs {
  /** The part of an event that is measured. */
  readonly measures: 'nothing' | 'a field' | 'a field or an expression';
  readonly multiplier?: true;
  readonly buckets?: true;
  readonly groups?: true;
}

/** The one table of the fields that an aggregation needs and may have. Anything else is refused. */
const needs: Readonly<Record<AggregationType, Needs>> = {
  COUNT: { measures: 'nothing' },
  SUM: { measures: 'a field or an expression', buckets: true },
  AVG: { measures: 'a field or an expression' },
  COUNT_UNIQUE: { measures: 'a field' },
  LATEST: { measures: 'a field or an expression' },
  SUM_WITH_MULTIPLIER: { measures: 'a field', multiplier: true },
  MAX: { measures: 'a field or an expression', buckets: true, groups: true },
  WEIGHTED_SUM: { measures: 'a field' },
};

const absent = <Value>(value: Value | null | undefined): Value | null => value ?? null;
const optionalText = (maximum: number) =>
  clearable(textSchema(maximum)).optional().transform(absent);

const givenSchema = z.object({
  type: aggregationTypeSchema,
  field: optionalText(255),
  expression: optionalText(1024),
  multiplier: positiveDecimalSchema(decimalPlaces.quantity).nullish().transform(absent),
  bucket_size: bucketSizeSchema.nullish().transform(absent),
  group_by: optionalText(255),
});
export type Aggregation = z.output<typeof givenSchema>;

/** Yields what is wrong with an aggregation as a whole, each with the member it concerns. */
function* faultsOf(given: Aggregation): Generator<[keyof Aggregation, string]> {
  const { type, field, expression } = given;
  const { measures, multiplier = false, buckets = false, groups = false } = needs[type];
  if (measures === 'nothing' && field !== null) yield ['field', `${type} measures no field`];
  if (measures !== 'a field or an expression' && expression !== null) {
    yield ['expression', `${type} takes no expression`];
  }
  if (measures !== 'nothing' && field === null && expression === null) {
    yield ['field', `${type} needs ${measures}`];
  }
  if (field !== null && expression !== null) {
    yield ['expression', 'must not stand beside field: one of the two is measured'];
  }
  if (multiplier && given.multiplier === null) yield ['multiplier', `${type} needs a multiplier`];
  if (!multiplier && given.multiplier !== null) yield ['multiplier', `${type} takes none`];
  if (!buckets && given.bucket_size !== null) yield ['bucket_size', `${type} takes none`];
  if (!groups && given.group_by !== null) yield ['group_by', `${type} takes none`];
  if (groups && given.group_by !== null && given.bucket_size === null) {
    yield ['group_by', 'needs bucket_size beside it'];
  }
  const fault = expression === null ? null : expressionFault(expression);
  if (fault !== null) yield ['expression', fault];
}

/** The aggregation of a request; fields that it does not have are null. */
export const aggregationSchema = givenSchema.superRefine((given, context) => {
  for (const [member, message] of faultsOf(given)) {
    context.addIssue({ code: 'custom', path: [member], message });
  }
});

/** An aggregation as an event keeps it: decided, and never checked against rules again. */
export const aggregationData = z.object({
  type: aggregationTypeSchema,
  field: z.string().nullable(),
  expression: z.string().nullable(),
  multiplier: z.string().nullable(),
  bucket_size: bucketSizeSchema.nullable(),
  group_by: z.string().nullable(),
});
