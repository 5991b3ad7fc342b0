import { z } from 'zod';

/** How often the usage of an entitlement starts over (specification, Entitlement). */
export const resetPeriodSchema = z.enum([
  'MONTHLY',
  'ANNUAL',
  'WEEKLY',
  'DAILY',
  'QUARTERLY',
  'HALF_YEARLY',
  'NEVER',
]);
