import {
  aggregate,
  type CheckpointId,
  canonicalJson,
  type Decision,
  type EventOf,
  type RecordStatus,
  referenceSchema,
  sequencedId,
} from '@counterfoil/kernel';
import { z } from 'zod';

const events = {
  LedgerCheckpointCreated: z.object({
    id: referenceSchema('ckpt'),
    sequence: z.number().int(),
    tree_size: z.number().int(),
    root_hash: z.string(),
    /** With `tree_size`, all that it takes to let the tree grow: see the engine's merkle.ts. */
    peaks: z.array(z.string()),
    position: z.string(),
    /** The number of wallets, and the root of the tree over their last events. */
    wallets: z.number().int(),
    heads_root: z.string(),
    key_id: z.string(),
    statement: z.string(),
    signature: z.string(),
  }),
} as const;
export type CheckpointEvent = EventOf<typeof events>;

/** The last checkpoint of an environment. */
export type Checkpoint = CheckpointEvent['data'];

/** Null before the first one. */
export type CheckpointState = Checkpoint | null;

/** The checkpoints of one environment, in one stream: each signs more than the one before it. */
export const ledgerCheckpoint = aggregate({
  name: 'ledger_checkpoint',
  scope: 'environment',
  clock: 'system',
  events,
  initial: null as CheckpointState,
  evolve: (_, event): CheckpointState => event.data,
});

/** The tree over all wallet events of an environment, as far as the log goes. */
export interface LedgerTree {
  readonly size: number;
  readonly peaks: readonly string[];
  readonly root: string;
  readonly position: string;
  /** The tree over the last event of each wallet, and the number of wallets. */
  readonly heads: { readonly count: number; readonly root: string };
}

/** The key that signs checkpoints. */
export interface CheckpointKey {
  readonly keyId: string;
  readonly sign: (text: string) => string;
}

export interface NewCheckpoint {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly tree: LedgerTree;
  /** The checkpoint that the tree has grown from. */
  readonly basis: CheckpointState;
  readonly key: CheckpointKey;
}

/**
 * Signs a tree that has grown. Does nothing when it has not grown, or when another checkpoint was made
 * meanwhile.
 */
export const createCheckpoint =
  (given: NewCheckpoint): Decision<CheckpointState, CheckpointEvent> =>
  (state, at) => {
    const { tenantId, environmentId, tree, basis, key } = given;
    if (state?.id !== basis?.id || tree.size <= (state?.tree_size ?? 0)) return [];
    const sequence = (state?.sequence ?? 0) + 1;
    const id: CheckpointId = sequencedId('ckpt', at, environmentId, sequence);
    const statement = canonicalJson({
      format: 'counterfoil-checkpoint',
      version: 1,
      id,
      tenant_id: tenantId,
      environment_id: environmentId,
      sequence,
      tree_size: tree.size,
      root_hash: tree.root,
      position: tree.position,
      wallets: tree.heads.count,
      heads_root: tree.heads.root,
      signed_at: at,
      previous: state && { id: state.id, tree_size: state.tree_size, root_hash: state.root_hash },
    });
    const data: Checkpoint = {
      id,
      sequence,
      tree_size: tree.size,
      root_hash: tree.root,
      peaks: [...tree.peaks],
      position: tree.position,
      wallets: tree.heads.count,
      heads_root: tree.heads.root,
      key_id: key.keyId,
      statement,
      signature: key.sign(statement),
    };
    return [{ type: 'LedgerCheckpointCreated', data }];
  };

/** Checkpoints are never taken back. */
export const checkpointStatus: RecordStatus = 'published';
