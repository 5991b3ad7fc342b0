import { metadataSchema, recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';

/** A plan or an add-on where it stands inside a record that it owns: without its lists. */
export const offerBriefSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    name: z.string(),
    lookup_key: z.string().optional(),
    description: z.string().optional(),
    display_order: z.number().int().optional(),
    metadata: metadataSchema,
  })
  .meta({ id: 'OfferBrief' });
