import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S2: few wallets have most of the traffic, as with real customers. */
export const zipf: Scenario = {
  id: 'S2',
  title: 'debits of wallets chosen by a Zipf distribution (exponent 1)',
  run: async (world) =>
    measureWrites(world, {
      scenario: zipf.id,
      title: zipf.title,
      wallets: await world.wallets(),
      choice: { kind: 'zipf', exponent: 1 },
      movement: { kind: 'debit' },
    }),
};
