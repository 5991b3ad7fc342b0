import { instantSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** The members of a modification of the end of a trial. */
export const trialEndParamsSchema = z
  .object({
    trial_end: instantSchema
      .nullish()
      .meta({ description: 'Earlier or later than it was; default: now' }),
  })
  .meta({ id: 'TrialEndParams' });
