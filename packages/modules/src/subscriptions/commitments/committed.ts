import type { DecimalText } from '@counterfoil/kernel';
import { z } from 'zod';

const figure = z.string().transform((text) => text as DecimalText);

/** The kinds of figures that usage is committed to. */
export const commitmentTypeSchema = z.enum(['amount', 'quantity']).meta({ id: 'CommitmentType' });

/** The figure that usage is committed to. */
export const committedData = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('amount'), amount: figure }),
  /** The amount is the cost of so much under the price of the line. */
  z.object({ kind: z.literal('quantity'), quantity: figure }),
]);
export type CommittedData = z.output<typeof committedData>;
