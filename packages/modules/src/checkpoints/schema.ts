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
    position: z.string().meta({ description: 'Position that the tree reaches to' }),
    wallets: z.number().int().meta({ description: 'Number of wallets' }),
    heads_root: z.string().meta({
      description: 'Root of the tree over the last event of each wallet, by the name of its stream',
    }),
    key_id: z.string(),
    statement: z.string().meta({ description: 'The signed text: canonical JSON (RFC 8785)' }),
    signature: z.string().meta({ description: 'Ed25519 over the statement, in hexadecimal' }),
  })
  .meta({ id: 'LedgerCheckpoint' });
export type CheckpointResource = z.output<typeof checkpointSchema>;

/** The checkpoint on the wire. */
export const checkpointView = (
  { peaks: _, ...checkpoint }: Checkpoint,
  stamp: Stamp,
): CheckpointResource => ({ ...checkpoint, ...createdStamps(stamp), status: checkpointStatus });
