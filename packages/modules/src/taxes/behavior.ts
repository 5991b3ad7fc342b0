import { z } from 'zod';

/** The place of the tax of a price: on top of it, or in it. */
export const taxBehaviorSchema = z.enum(['exclusive', 'inclusive']).meta({ id: 'TaxBehavior' });
export type TaxBehavior = z.output<typeof taxBehaviorSchema>;
