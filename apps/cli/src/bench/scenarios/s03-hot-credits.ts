import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S3C: each load is a lot of its own that stays open, so the state of the wallet grows with each. */
export const hotCredits: Scenario = {
  id: 'S3C',
  title: 'credits to one hot wallet, each a lot of its own',
  run: async (world) =>
    measureWrites(world, {
      scenario: hotCredits.id,
      title: hotCredits.title,
      wallets: [await world.newWallet('hot-credits', '1')],
      movement: { kind: 'credit' },
    }),
};
