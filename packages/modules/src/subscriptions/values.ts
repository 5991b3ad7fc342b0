import { z } from 'zod';

/** The values of the fields of a subscription (specification §2.3; D1). */
export const subscriptionStatusSchema = z
  .enum(['draft', 'trialing', 'active', 'incomplete', 'paused', 'cancelled'])
  .meta({ id: 'SubscriptionStatus' });
export type SubscriptionStatus = z.output<typeof subscriptionStatusSchema>;

/** The manners in which subscriptions belong together (E 10.9). */
export const subscriptionTypeSchema = z.enum([
  'standalone',
  'delegated_invoicing',
  'parent',
  'inherited',
  'grouped_invoicing',
]);
export type SubscriptionType = z.output<typeof subscriptionTypeSchema>;

export const recurringPeriodSchema = z
  .enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'])
  .meta({ id: 'RecurringPeriod' });

export const billingCycleSchema = z.enum(['anniversary', 'calendar']);
export type BillingCycle = z.output<typeof billingCycleSchema>;

export const collectionMethodSchema = z.enum(['charge_automatically', 'send_invoice']);
export const paymentBehaviorSchema = z.enum([
  'allow_incomplete',
  'default_incomplete',
  'error_if_incomplete',
  'default_active',
]);
export const paymentTermsSchema = z.enum([
  '15 NET',
  '30 NET',
  '45 NET',
  '60 NET',
  '75 NET',
  '90 NET',
]);

export const prorationBehaviorSchema = z
  .enum(['create_prorations', 'none'])
  .meta({ id: 'ProrationBehavior' });
export type ProrationBehavior = z.output<typeof prorationBehaviorSchema>;

/** The kind of what a line came with: the plan, an add-on, or the subscription itself. */
export const lineOriginSchema = z.enum(['plan', 'addon', 'subscription']);

/** Manners in which pauses begin and end, and what becomes of them (D49). */
export const pauseModeSchema = z.enum(['immediate', 'scheduled', 'period_end']);
export const resumeModeSchema = z.enum(['immediate', 'scheduled', 'auto']);
export const pauseStatusSchema = z.enum(['none', 'active', 'scheduled', 'completed', 'cancelled']);

export const cancellationTypeSchema = z.enum(['immediate', 'end_of_period', 'scheduled_date']);
export type CancellationType = z.output<typeof cancellationTypeSchema>;

/** Tells whether a subscription waits for its first payment before it is active (E 10.1). */
export const waitsForPayment = (behavior: z.output<typeof paymentBehaviorSchema>): boolean =>
  behavior !== 'default_active';

/** Pairs of collection and behavior that make sense together (E 10.1). */
export const behaviorsOf: Readonly<
  Record<z.output<typeof collectionMethodSchema>, readonly z.output<typeof paymentBehaviorSchema>[]>
> = {
  send_invoice: ['default_active', 'default_incomplete'],
  charge_automatically: ['allow_incomplete', 'error_if_incomplete', 'default_active'],
};
