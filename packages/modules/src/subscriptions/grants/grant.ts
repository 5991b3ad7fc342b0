import {
  type CreditGrantId,
  type DecimalText,
  derivedId,
  type GrantApplicationId,
  type Instant,
  instantSchema,
  lastInstant,
  metadataSchema,
  type Period,
  type PeriodUnit,
  periodBoundary,
  referenceSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { recurringPeriodSchema } from '../values.ts';

const figure = z.string().transform((text) => text as DecimalText);

/** A grant of credits as a subscription was given it: nothing changes in it because its plan does (ADR 41). */
export const grantData = z.object({
  id: referenceSchema('cg'),
  /** The grant of the plan that it is a copy of. */
  source_id: referenceSchema('cg'),
  name: z.string(),
  credits: figure,
  /** Null: once. */
  period: recurringPeriodSchema.nullable(),
  period_count: z.number().int(),
  expiration_type: z.enum(['NEVER', 'DURATION', 'BILLING_CYCLE']),
  expiration_duration: z.number().int().nullable(),
  expiration_duration_unit: z.enum(['DAY', 'WEEK', 'MONTH', 'YEAR']).nullable(),
  priority: z.number().int().nullable(),
  conversion_rate: figure.nullable(),
  topup_conversion_rate: figure.nullable(),
  /** The first is given here, and the periods of the others are counted from here. */
  start_date: instantSchema,
  metadata: metadataSchema,
});
export type GrantData = z.output<typeof grantData>;

/** A grant of a subscription, with the number of the application that comes next; null when none does. */
export interface Grant extends GrantData {
  readonly next_index: number | null;
}

/** One time at which credits are given. */
export interface Application {
  readonly application_id: GrantApplicationId;
  readonly index: number;
  readonly period_start: Instant;
  /** Null: it is given once. */
  readonly period_end: Instant | null;
}

/** The id of an application, which follows from its grant and its number. */
export const applicationId = (grantId: string, index: number): GrantApplicationId =>
  derivedId('cga', `${grantId}\n${index}`);

/** The application of a grant with a number, which its id follows from (E 19 B). */
export function applicationOf(
  { id, period, period_count: count, start_date }: GrantData,
  index: number,
  zone: string,
): Application {
  const application_id = applicationId(id, index);
  if (period === null) {
    return { application_id, index, period_start: start_date, period_end: null };
  }
  const cadence = { anchor: start_date, unit: period, count, zone };
  return {
    application_id,
    index,
    period_start: periodBoundary(cadence, start_date, index),
    period_end: periodBoundary(cadence, start_date, index + 1),
  };
}

/** The application that comes next; null where none does. */
export const nextApplication = (grant: Grant, zone: string): Application | null =>
  grant.next_index === null ? null : applicationOf(grant, grant.next_index, zone);

const durationUnits: Readonly<Record<'DAY' | 'WEEK' | 'MONTH' | 'YEAR', PeriodUnit>> = {
  DAY: 'DAILY',
  WEEK: 'WEEKLY',
  MONTH: 'MONTHLY',
  YEAR: 'ANNUAL',
};

/** The instant at which credits of an application expire: counted from its start in the calendar, or with the billing period. */
export function expiryOf(
  { expiration_type, expiration_duration, expiration_duration_unit }: GrantData,
  from: Instant,
  { zone, billing }: { readonly zone: string; readonly billing: Period | null },
): Instant | null {
  if (expiration_type === 'NEVER') return null;
  if (expiration_type === 'BILLING_CYCLE') return billing?.end ?? null;
  if (expiration_duration === null || expiration_duration_unit === null) return null;
  const unit = durationUnits[expiration_duration_unit];
  // What lies beyond the years that can be written never comes.
  if (unit === 'ANNUAL' && expiration_duration > yearsMaximum) return lastInstant;
  return periodBoundary({ anchor: from, unit, count: expiration_duration, zone }, from, 1);
}

const yearsMaximum = 5000;

/** The id of the copy of a grant that a subscription has. */
export const grantCopyId = (subscriptionId: string, sourceId: string): CreditGrantId =>
  derivedId('cg', `${subscriptionId}\n${sourceId}`);
