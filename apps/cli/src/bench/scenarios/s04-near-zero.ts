import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S4: more is asked of a wallet than it has, so many debits are refused, and none may be let through. */
export const nearZero: Scenario = {
  id: 'S4',
  title: 'one hot wallet near zero: debits of 3 and credits of 2',
  run: async (world) =>
    measureWrites(world, {
      scenario: nearZero.id,
      title: nearZero.title,
      wallets: [await world.newWallet('near-zero', '1')],
      movement: { kind: 'contest' },
    }),
};
