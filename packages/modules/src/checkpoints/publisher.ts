import { publicEvents } from '@counterfoil/engine/define';
import { z } from 'zod';
import { ledgerCheckpoint } from './checkpoint.ts';
import { checkpointSchema, checkpointView } from './schema.ts';

/** Every checkpoint is published, so that others hold it and it cannot be signed again unseen. */
export const checkpointPublicEvents = publicEvents(
  ledgerCheckpoint,
  ({ event }) => [
    {
      type: 'ledger.checkpoint.created',
      resourceId: event.data.id,
      body: { checkpoint: checkpointView(event.data, event.stamp) },
    },
  ],
  {
    'ledger.checkpoint.created': {
      summary: 'The state of all ledgers of the environment is signed',
      kind: 'entry',
      body: z.object({ checkpoint: checkpointSchema }),
    },
  },
);
