import { instantSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';

/** The members of a modification of the taxes of a subscription. */
export const taxParamsSchema = withConditions(
  z.object({
    action: z.enum(['add', 'remove']),
    tax_rate_id: z.string().max(64).nullish(),
    tax_association_id: z.string().max(64).nullish(),
    effective_date: instantSchema.nullish().meta({ description: 'Default: always' }),
  }),
  [
    { when: { action: 'add' }, needs: 'tax_rate_id', says: 'is required for action add' },
    {
      when: { action: 'remove' },
      needs: 'tax_association_id',
      says: 'is required for action remove',
    },
    {
      when: { action: 'remove' },
      lacks: 'effective_date',
      says: 'is now: a rate that is removed applies no more at once',
    },
  ],
).meta({ id: 'TaxParams' });
export type TaxParams = z.output<typeof taxParamsSchema>;
