import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S5: many entries in one request, for those who can gather them. */
export const bulk: Scenario = {
  id: 'S5',
  title: 'bulks of 50 debits, spread over all wallets',
  run: async (world) =>
    measureWrites(world, {
      scenario: bulk.id,
      title: bulk.title,
      wallets: await world.wallets(),
      movement: { kind: 'bulk', entries: 50 },
    }),
};
