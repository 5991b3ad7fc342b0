import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S3: all clients want the same wallet, the case in which locks and optimistic retries collapse. */
export const hotDebits: Scenario = {
  id: 'S3',
  title: 'debits of one hot wallet',
  run: async (world) =>
    measureWrites(world, {
      scenario: hotDebits.id,
      title: hotDebits.title,
      wallets: [await world.newWallet('hot-debits', '1000000000')],
      movement: { kind: 'debit' },
    }),
};
