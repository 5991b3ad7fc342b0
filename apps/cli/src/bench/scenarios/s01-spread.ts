import type { Scenario } from '../scenario.ts';
import { measureWrites } from './writes.ts';

/** S1: the case that every service is good at. What it reaches is what the others are held against. */
export const spread: Scenario = {
  id: 'S1',
  title: 'debits spread over all wallets',
  run: async (world) =>
    measureWrites(world, {
      scenario: spread.id,
      title: spread.title,
      wallets: await world.wallets(),
      movement: { kind: 'debit' },
    }),
};
