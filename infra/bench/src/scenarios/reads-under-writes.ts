import { measure } from '../measure.ts';
import type { Result } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { writers } from './writes.ts';

/** S8: half of the clients write, the other half read all of it. */
export const readsUnderWrites: Scenario = {
  id: 'S8',
  title: 'half of the clients write, half read',
  run: async (world) => {
    const wallets = await world.wallets();
    const results: Result[] = [];
    for (const clients of world.options.clients) {
      const half = Math.max(1, Math.floor(clients / 2));
      const parts = [
        writers(half, { kind: 'closed' }, { wallets, movement: { kind: 'debit' } }),
        { clients: half, pace: { kind: 'closed' }, work: { kind: 'reads', wallets } },
      ] as const;
      const { id: scenario, title } = readsUnderWrites;
      results.push(await measure(world, { scenario, title, clients: 2 * half, parts }));
    }
    return results;
  },
};
