import { z } from 'zod';

/** The period after which the usage of an entitlement starts over (specification §2.7). */
export const resetPeriodSchema = z.enum([
  'MONTHLY',
  'ANNUAL',
  'WEEKLY',
  'DAILY',
  'QUARTERLY',
  'HALF_YEARLY',
  'NEVER',
]);
