import {
  createdStamps,
  recordStampsShape,
  recordStatusSchema,
  type Stamp,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type Checkpoint, checkpointStatus } from './checkpoint.ts';

export const checkpointSchema = z
  .object({
    ...recordStampsShape,
    status: recordStatusSchema,
    sequence: z.number().int().meta({ description: 'Number in its environment, from 1 on' }),
    tree_size: z.number().int().meta({ description: 'Wallet events that the tree has as leaves' }),
    root_hash: z.string().meta({ description: 'Root of the tree (RFC 6962, SHA-256)' }),
    position: z.string().meta({ description: 'Position in the log up to which the tree reaches' }),
    wallets: z.number().int().nullable().meta({
      description: 'Wallets that there were; null in checkpoints from before they were counted',
    }),
    heads_root: z.string().nullable().meta({
      description: 'Root of the tree over the last event of each wallet, by the name of its stream',
    }),
    key_id: z.string(),
    statement: z.string().meta({ description: 'What was signed: canonical JSON (RFC 8785)' }),
    signature: z.string().meta({ description: 'Ed25519 over the statement, in hexadecimal' }),
  })
  .meta({ id: 'LedgerCheckpoint' });
export type CheckpointResource = z.output<typeof checkpointSchema>;

/** What the world gets to see of a checkpoint. */
export const checkpointView = (
  { peaks: _, ...checkpoint }: Checkpoint,
  stamp: Stamp,
): CheckpointResource => ({ ...checkpoint, ...createdStamps(stamp), status: checkpointStatus });
