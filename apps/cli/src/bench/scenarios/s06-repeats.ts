import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S6: clients repeat what they have done already; a repetition moves nothing. */
export const repeats: Scenario = {
  id: 'S6',
  title: 'debits spread over all wallets, 20 % of the requests are repetitions',
  run: async (world) =>
    measureWrites(world, {
      scenario: repeats.id,
      title: repeats.title,
      wallets: await world.wallets(),
      movement: { kind: 'debit' },
      repeatShare: 0.2,
    }),
};
