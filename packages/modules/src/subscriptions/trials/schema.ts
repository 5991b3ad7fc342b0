import { instantSchema, withConditions } from '@counterfoil/kernel';
import { z } from 'zod';

/** The members of a modification of the end of a trial. */
export const trialEndParamsSchema = withConditions(
  z.object({
    action: z.enum(['immediate', 'scheduled_date']).meta({ description: 'Now, or later' }),
    new_trial_end: instantSchema.nullish().meta({ description: 'Earlier or later than it was' }),
  }),
  [
    {
      when: { action: 'scheduled_date' },
      needs: 'new_trial_end',
      says: 'is required for action scheduled_date',
    },
    {
      when: { action: 'immediate' },
      lacks: 'new_trial_end',
      says: 'is now: leave it out, or choose action scheduled_date',
    },
  ],
).meta({ id: 'TrialEndParams' });
