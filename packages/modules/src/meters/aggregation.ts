import {
  type Condition,
  clearable,
  decimalPlaces,
  positiveDecimalSchema,
  textSchema,
  windowSizes,
  withConditions,
} from '@counterfoil/kernel';
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

export const bucketSizeSchema = z.enum(windowSizes);

interface Needs {
  /** The part of an event that is measured. */
  readonly measures: 'nothing' | 'a field' | 'a field or an expression';
  readonly multiplier?: true;
  readonly buckets?: true;
  readonly groups?: true;
}

/** The one table of the fields that an aggregation needs and may have. Anything else is refused. */
export const aggregationNeeds: Readonly<Record<AggregationType, Needs>> = {
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

type Member = keyof Aggregation;

/** The conditions under which aggregations of one type have one member. */
function conditionsOf(type: AggregationType): Condition<Member>[] {
  const { measures, multiplier, buckets, groups } = aggregationNeeds[type];
  const when = { type };
  const none = (lacks: Member, says = `${type} takes none`) => ({ when, lacks, says });
  const measured = {
    nothing: [none('field', `${type} measures no field`), none('expression')],
    'a field': [{ when, needs: 'field', says: `${type} needs a field` }, none('expression')],
    'a field or an expression': [
      {
        when,
        oneOf: ['field', 'expression'],
        says: `${type} needs either a field or an expression`,
      },
    ],
  } as const;
  return [
    ...measured[measures],
    multiplier
      ? { when, needs: 'multiplier', says: `${type} needs a multiplier` }
      : none('multiplier'),
    ...(buckets ? [] : [none('bucket_size')]),
    ...(groups ? [] : [none('group_by')]),
  ];
}

/** The aggregation of a request; fields that it does not have are null. */
export const aggregationSchema = withConditions(givenSchema, [
  ...aggregationTypeSchema.options.flatMap(conditionsOf),
  { beside: 'group_by', needs: 'bucket_size', says: 'group_by needs it' },
]).superRefine(({ expression }, context) => {
  const fault = expression === null ? null : expressionFault(expression);
  if (fault === null) return;
  context.addIssue({ code: 'custom', path: ['expression'], message: fault });
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
