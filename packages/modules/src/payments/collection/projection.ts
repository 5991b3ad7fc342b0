import { dueWork, recordProjection } from '@counterfoil/engine/define';
import { existing, recordStatusSchema } from '@counterfoil/kernel';
import { type CollectionState, collection } from './collection.ts';
import { beginDueRound } from './decisions.ts';

const { published } = recordStatusSchema.enum;

/** The row of a collection: who looks for what is due needs no more. */
function collectionView(state: CollectionState) {
  const {
    round,
    next_at,
    isOpen: _,
    waiting: _waiting,
    scheduled: _scheduled,
    ...stamps
  } = existing(state, 'collection');
  return { ...stamps, status: published, round, next_at };
}

/** One row per invoice of which something was to be collected. */
export const collectionTable = recordProjection(collection, {
  name: 'collections',
  version: 1,
  view: collectionView,
  columns: {
    next_at: { type: 'timestamptz', of: (shown) => shown.next_at, index: true },
  },
});

/** Tries again to collect what is owed when the schedule says so. */
export const retries = dueWork({
  name: 'payment retries',
  table: collectionTable,
  column: 'next_at',
  run: (context, id) => context.execute(collection, id, beginDueRound),
});
