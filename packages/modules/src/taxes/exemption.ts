import { requiredTextSchema, textSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The exemption of a customer from taxes, as requests give it. */
export const taxExemptionInput = z
  .object({
    number: requiredTextSchema(64).meta({
      description: 'The number that proves it: of the certificate, or for tax of the customer',
    }),
    reason: textSchema(255)
      .nullish()
      .transform((reason) => reason || null)
      .meta({ description: 'The words for it on invoices, such as `Reverse charge`' }),
  })
  .meta({ id: 'GivenTaxExemption' });

/** The exemption of a customer from taxes, as events and answers have it. */
export const taxExemptionSchema = z
  .object({
    number: z.string().meta({ description: 'The number that proves it' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'The words for it on invoices; null: there are none' }),
  })
  .meta({ id: 'TaxExemption' });
export type TaxExemption = z.output<typeof taxExemptionSchema>;
