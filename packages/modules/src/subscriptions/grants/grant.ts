import {
  type Changes,
  type CreditGrantId,
  type DecimalText,
  derivedId,
  type GrantApplicationId,
  type Instant,
  instantSchema,
  invalidField,
  lastInstant,
  laterOf,
  metadataSchema,
  type Period,
  type PeriodUnit,
  periodBoundary,
  referenceSchema,
  sequencedId,
  withChanges,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { CreditGrantData, SubscriptionGrantBody } from '../../offers/index.ts';
import { recurringPeriodSchema } from '../values.ts';

const instant = z.string().transform((text) => text as Instant);
const figure = z.string().transform((text) => text as DecimalText);

/** A grant of credits as a subscription was given it: nothing changes in it because its plan does (ADR 41). */
export const grantData = z.object({
  id: referenceSchema('cg'),
  /** The grant of the plan or the add-on that it is a copy of; its own id for one of the subscription itself. */
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
  /** The add-on that it came with, and ends with; null: it is of the plan. */
  addon_association_id: z.string().nullable().default(null),
  /** The credits of a first one that is given within a period, and the boundary that the others are counted from. */
  part: z.object({ anchor: instant, credits: figure }).nullable().default(null),
  /** Nothing is given for a period that ends later; null: as long as the subscription. */
  end_date: instantSchema.nullable().default(null),
});
export type GrantData = z.output<typeof grantData>;

type GrantTerms = Pick<
  CreditGrantData,
  | 'name'
  | 'cadence'
  | 'expiration_type'
  | 'period'
  | 'period_count'
  | 'expiration_duration'
  | 'expiration_duration_unit'
  | 'priority'
  | 'conversion_rate'
  | 'topup_conversion_rate'
  | 'metadata'
  | 'credits'
>;

/** The terms of a grant, as a subscription keeps them. */
export const grantTerms = (grant: GrantTerms) => ({
  name: grant.name,
  credits: grant.credits as DecimalText,
  period: grant.cadence === 'RECURRING' ? grant.period : null,
  period_count: grant.period_count ?? 1,
  expiration_type: grant.expiration_type,
  expiration_duration: grant.expiration_duration,
  expiration_duration_unit: grant.expiration_duration_unit,
  priority: grant.priority,
  conversion_rate: grant.conversion_rate as DecimalText | null,
  topup_conversion_rate: grant.topup_conversion_rate as DecimalText | null,
  metadata: grant.metadata,
});

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

/** A grant after a change; one whose next application is given up has none to come. */
export const changedGrant = (
  grant: Grant,
  {
    grant_id,
    changes,
    application,
  }: {
    readonly grant_id: string;
    readonly changes: Changes<Pick<GrantData, 'name' | 'metadata' | 'end_date'>>;
    readonly application: string | null;
  },
): Grant =>
  grant.id === grant_id
    ? {
        ...withChanges<Grant>(grant, changes),
        next_index: application === null ? grant.next_index : null,
      }
    : grant;

/** The id of an application, which follows from its grant and its number. */
export const applicationId = (grantId: string, index: number): GrantApplicationId =>
  derivedId('cga', `${grantId}\n${index}`);

/** The application of a grant with a number, which its id follows from (E 19 B). */
export function applicationOf(
  { id, period, period_count: count, start_date, part }: GrantData,
  index: number,
  zone: string,
): Application {
  const application_id = applicationId(id, index);
  if (period === null) {
    return { application_id, index, period_start: start_date, period_end: null };
  }
  const cadence = { anchor: part?.anchor ?? start_date, unit: period, count, zone };
  return {
    application_id,
    index,
    period_start: periodBoundary(cadence, start_date, index),
    period_end: periodBoundary(cadence, start_date, index + 1),
  };
}

/** The credits of the application with a number. */
export const creditsAt = ({ credits, part }: GrantData, index: number): DecimalText =>
  index === 0 && part !== null ? part.credits : credits;

/** The application that follows on one; null where it is given once, and where the grant ends before that one does. */
export function applicationAfter(
  grant: GrantData,
  index: number,
  zone: string,
): Application | null {
  if (grant.period === null) return null;
  const next = applicationOf(grant, index + 1, zone);
  const isOver = grant.end_date !== null && (next.period_end ?? next.period_start) > grant.end_date;
  return isOver ? null : next;
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

/** The id of the copy of a grant that a subscription has by its plan, or by an add-on. */
export const grantCopyId = (ownerId: string, sourceId: string): CreditGrantId =>
  derivedId('cg', `${ownerId}\n${sourceId}`);

/** A grant that a request asks for, of the subscription itself. */
export interface OwnGrant extends Omit<GrantData, 'start_date' | 'addon_association_id' | 'part'> {
  /** Null: with the first period. */
  readonly start_date: Instant | null;
  /** The place in the request. */
  readonly pointer: string;
}

/** The grants of a subscription itself as it is created; ids follow from its own. */
export const ownGrants = (
  subscriptionId: string,
  bodies: readonly SubscriptionGrantBody[],
  now: Instant,
): readonly OwnGrant[] =>
  bodies.map((body, index) =>
    ownGrant(body, sequencedId('cg', now, subscriptionId, index), `/credit_grants/${index}`),
  );

/** A grant of the subscription itself, as a request asks for it. */
export const ownGrant = (
  body: Omit<SubscriptionGrantBody, 'scope'>,
  id: CreditGrantId,
  pointer: string,
): OwnGrant => ({
  ...grantTerms({
    ...body,
    metadata: body.metadata ?? {},
    period: body.period ?? null,
    period_count: body.period_count ?? null,
    expiration_duration: body.expiration_duration ?? null,
    expiration_duration_unit:
      (body.expiration_type === 'DURATION' && body.expiration_duration_unit) || null,
    priority: body.priority ?? null,
    conversion_rate: body.conversion_rate ?? null,
    topup_conversion_rate: body.topup_conversion_rate ?? null,
  }),
  id,
  source_id: id,
  start_date: body.start_date ?? null,
  end_date: body.end_date ?? null,
  pointer,
});

/**
 * A grant of the subscription itself with its dates: nothing is given before the end of a trial.
 *
 * @throws a Problem for one that begins before the subscription, or ends before it gives anything
 */
export function datedGrant(
  { pointer, ...grant }: OwnGrant,
  host: {
    readonly start_date: Instant;
    /** The instant before which nothing is given. */
    readonly gives_from: Instant;
    readonly timezone: string;
  },
): GrantData {
  const { start_date: asked, end_date } = grant;
  if (asked !== null && asked < host.start_date) {
    throw invalidField(`${pointer}/start_date`, 'must not be before the subscription starts');
  }
  const start_date = laterOf(asked ?? host.gives_from, host.gives_from);
  const dated = { ...grant, start_date, addon_association_id: null, part: null };
  const { period_end } = applicationOf(dated, 0, host.timezone);
  if (end_date !== null && (end_date <= start_date || (period_end ?? start_date) > end_date)) {
    const least = period_end ?? start_date;
    throw invalidField(`${pointer}/end_date`, `must be after the first credits, ${least}`);
  }
  return dated;
}
