import { z } from 'zod';

/** Whether tax comes on top of a price, or is in it. */
export const taxBehaviorSchema = z.enum(['exclusive', 'inclusive']).meta({ id: 'TaxBehavior' });
export type TaxBehavior = z.output<typeof taxBehaviorSchema>;
