import { projection } from '@counterfoil/engine/define';
import { ledgerCheckpoint } from './checkpoint.ts';
import { type CheckpointResource, checkpointView } from './schema.ts';

/** One row per checkpoint. */
export const checkpointTable = projection(ledgerCheckpoint, {
  name: 'ledger_checkpoints',
  version: 2,
  columns: {
    sequence: { type: 'integer', of: (shown) => shown.sequence },
    tree_size: { type: 'integer', of: (shown) => shown.tree_size },
  },
  keys: (event) => [event.data.id],
  fold: (_row: CheckpointResource | null, event) => checkpointView(event.data, event.stamp),
  view: (row: CheckpointResource) => row,
});
