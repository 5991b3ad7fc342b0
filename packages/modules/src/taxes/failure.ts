import { z } from 'zod';

/** The reason for which a tax provider has not said what taxes an invoice has. */
export const taxFailureSchema = z
  .enum(['unreachable', 'timed_out', 'refused', 'invalid_answer', 'not_usable'])
  .meta({
    id: 'TaxFailureReason',
    description:
      '`unreachable`: no connection; `timed_out`: no answer in time; `refused`: another status than 200; `invalid_answer`: not the taxes that were asked for; `not_usable`: the service cannot ask with what is set',
  });
export type TaxFailureReason = z.output<typeof taxFailureSchema>;
