import { unused } from '@counterfoil/engine/define';
import {
  clearable,
  metadataSchema,
  recordStampsShape,
  recordStatusSchema,
  requiredTextSchema,
  textSchema,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { entitlementSchema } from '../entitlement/schema.ts';
import { creditGrantSchema } from '../grant/schema.ts';
import { priceSchema } from '../price/schema.ts';

const nameSchema = requiredTextSchema(255);
const lookupKeySchema = requiredTextSchema(255);
const optionalLookupKeySchema = clearable(textSchema(255)).optional();
const descriptionSchema = clearable(textSchema(1000)).optional();
const displayOrderSchema = z.number().int().min(-1_000_000_000).max(1_000_000_000).nullish();

/** Null means the same as absent: nothing is said about it. */
const pairsSchema = metadataSchema.nullish().transform((pairs) => pairs ?? undefined);

const planShape = {
  lookup_key: optionalLookupKeySchema,
  description: descriptionSchema,
  display_order: displayOrderSchema,
  metadata: pairsSchema,
} as const;

export const createPlanSchema = z
  .object({ name: nameSchema, ...planShape })
  .meta({ id: 'CreatePlan' });
export type CreatePlan = z.output<typeof createPlanSchema>;

export const updatePlanSchema = z
  .object({ name: nameSchema.optional(), ...planShape })
  .meta({ id: 'UpdatePlan' });
export type UpdatePlan = z.output<typeof updatePlanSchema>;

/** Body of POST /plans/{id}/clone (specification §4.1; D16). */
export const clonePlanSchema = z
  .object({
    name: nameSchema,
    lookup_key: lookupKeySchema,
    description: textSchema(1000)
      .nullish()
      .meta({ description: 'Default: of the source; `""` for none' }),
    display_order: displayOrderSchema,
    metadata: pairsSchema.meta({ description: "Laid over the source's pairs" }),
  })
  .meta({ id: 'ClonePlan' });
export type ClonePlan = z.output<typeof clonePlanSchema>;

export const createAddonSchema = z
  .object({
    name: nameSchema,
    lookup_key: lookupKeySchema,
    description: descriptionSchema,
    metadata: pairsSchema,
    type: unused,
  })
  .meta({ id: 'CreateAddon' });
export type CreateAddon = z.output<typeof createAddonSchema>;

export const updateAddonSchema = z
  .object({
    name: nameSchema.optional(),
    description: descriptionSchema,
    metadata: pairsSchema,
  })
  .meta({ id: 'UpdateAddon' });
export type UpdateAddon = z.output<typeof updateAddonSchema>;

const costsheetShape = {
  lookup_key: optionalLookupKeySchema,
  description: descriptionSchema,
  metadata: pairsSchema,
} as const;

export const createCostsheetSchema = z
  .object({ name: nameSchema, ...costsheetShape })
  .meta({ id: 'CreateCostsheet' });
export type CreateCostsheet = z.output<typeof createCostsheetSchema>;

export const updateCostsheetSchema = z
  .object({ name: nameSchema.optional(), ...costsheetShape })
  .meta({ id: 'UpdateCostsheet' });
export type UpdateCostsheet = z.output<typeof updateCostsheetSchema>;

const commonShape = {
  ...recordStampsShape,
  status: recordStatusSchema,
  name: z.string(),
  description: z.string().optional(),
  metadata: metadataSchema,
} as const;

/** The plan on the wire (specification §2.2). The lists are there where one plan is asked for. */
export const planSchema = z
  .object({
    ...commonShape,
    lookup_key: z.string().optional(),
    display_order: z.number().int().optional(),
    prices: z.array(priceSchema).optional(),
    entitlements: z.array(entitlementSchema).optional(),
    credit_grants: z.array(creditGrantSchema).optional(),
  })
  .meta({ id: 'Plan' });
export type Plan = z.output<typeof planSchema>;

/** The add-on on the wire (specification §2.8). */
export const addonSchema = z
  .object({
    ...commonShape,
    lookup_key: z.string(),
    prices: z.array(priceSchema).optional(),
    entitlements: z.array(entitlementSchema).optional(),
    credit_grants: z.array(creditGrantSchema).optional(),
  })
  .meta({ id: 'Addon' });
export type Addon = z.output<typeof addonSchema>;

/** The costsheet on the wire (specification §2.22). */
export const costsheetSchema = z
  .object({
    ...commonShape,
    lookup_key: z.string().optional(),
    prices: z.array(priceSchema).optional(),
  })
  .meta({ id: 'Costsheet' });
export type Costsheet = z.output<typeof costsheetSchema>;

/** The answer of the operations on one costsheet. */
export const costsheetAnswerSchema = z
  .object({ costsheet: costsheetSchema })
  .meta({ id: 'CostsheetAnswer' });
