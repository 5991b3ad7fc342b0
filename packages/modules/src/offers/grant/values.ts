import { z } from 'zod';

/** The values of the fields of a credit grant (specification §2.9 and §11.4). */
export const grantScopeSchema = z.enum(['PLAN', 'SUBSCRIPTION', 'ADDON']);
export const grantCadenceSchema = z.enum(['ONETIME', 'RECURRING']);
export const grantPeriodSchema = z.enum([
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
]);
export const expirationTypeSchema = z.enum(['NEVER', 'DURATION', 'BILLING_CYCLE']);
export const durationUnitSchema = z.enum(['DAY', 'WEEK', 'MONTH', 'YEAR']);
