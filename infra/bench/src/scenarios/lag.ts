import { measure } from '../measure.ts';
import type { Scenario, World } from '../scenario.ts';
import { spread, writers } from './writes.ts';

const clients = 64;
/** Followed writes per second: enough for a 99th percentile, and hardly a load. */
const followedPerSecond = 25;

/**
 * LAG: the time from its answer until a write is seen by readers. An open loop at the given rate, or at half the rate
 * of S1; some of the writes are read back, with their position, until the read model shows them.
 */
export const lag: Scenario = {
  id: 'LAG',
  title: 'answer to visible, open loop',
  run: async (world) => {
    const perSecond =
      world.options.rate ?? Math.max(1, Math.floor((await rateOfSpread(world)) / 2));
    const part = writers(
      clients,
      { kind: 'open', perSecond },
      {
        wallets: await world.wallets(),
        movement: { kind: 'debit' },
      },
    );
    if (part.work.kind !== 'writes') return [];
    const followedEvery = Math.max(1, Math.round(perSecond / followedPerSecond));
    return [
      await measure(world, {
        scenario: lag.id,
        title: `${lag.title}: ${perSecond} /s`,
        clients,
        parts: [{ ...part, work: { ...part.work, followedEvery } }],
      }),
    ];
  },
};

/** The highest rate of S1 in this run; measures it when it has not been. */
async function rateOfSpread(world: World): Promise<number> {
  const known = world.results.filter(({ scenario }) => scenario === spread.id);
  const options = { ...world.options, clients: [clients], rate: null };
  const results = known.length > 0 ? known : await spread.run({ ...world, options });
  return Math.max(...results.map(({ samples }) => samples[0]?.entriesPerSecond ?? 0));
}
