import { z } from 'zod';

/** The values of the fields of a price (specification §2.3; D1). */
export const priceTypeSchema = z.enum(['USAGE', 'FIXED']);
export const billingModelSchema = z.enum(['FLAT_FEE', 'PACKAGE', 'TIERED']);
export const tierModeSchema = z.enum(['VOLUME', 'SLAB']);
export const billingPeriodSchema = z.enum([
  'MONTHLY',
  'ANNUAL',
  'WEEKLY',
  'DAILY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ONETIME',
]);
export const billingCadenceSchema = z.enum(['RECURRING', 'ONETIME']);
export const invoiceCadenceSchema = z.enum(['ARREAR', 'ADVANCE']);
export const priceUnitTypeSchema = z.enum(['FIAT', 'CUSTOM']);
