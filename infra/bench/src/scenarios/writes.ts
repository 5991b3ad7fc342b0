import type { Choice, Movement, Pace, Part } from '../load/plan.ts';
import { measure } from '../measure.ts';
import type { Result } from '../report.ts';
import type { Scenario, World } from '../scenario.ts';

/** The requests of a scenario of writes, and their wallets. */
export interface WriteLoad {
  readonly wallets: readonly string[];
  readonly movement: Movement;
  readonly choice?: Choice;
  readonly repeatShare?: number;
}

/** A part of a load that writes. */
export const writers = (clients: number, pace: Pace, load: WriteLoad): Part => ({
  clients,
  pace,
  work: {
    kind: 'writes',
    wallets: load.wallets,
    choice: load.choice ?? { kind: 'uniform' },
    movement: load.movement,
    repeatShare: load.repeatShare ?? 0,
    isInsistent: false,
    followedEvery: 0,
  },
});

/** A scenario that writes, with each number of clients that was asked for, one after the other. */
const writing = (
  id: string,
  title: string,
  load: (world: World) => Promise<WriteLoad>,
): Scenario => ({
  id,
  title,
  run: async (world) => {
    const { clients: numbers, rate } = world.options;
    const pace: Pace = rate === null ? { kind: 'closed' } : { kind: 'open', perSecond: rate };
    const shownTitle = rate === null ? title : `${title}, open loop of ${rate} /s`;
    const found = await load(world);
    const entriesPerKey = found.movement.kind === 'bulk' ? found.movement.entries : 1;
    const results: Result[] = [];
    for (const clients of numbers) {
      const parts = [writers(clients, pace, found)];
      const measurement = { scenario: id, title: shownTitle, clients, parts, entriesPerKey };
      results.push(await measure(world, measurement));
    }
    return results;
  },
});

const plentyOfCredits = '1000000000';

/** Debits spread over all wallets. */
export const spreadLoad = async (world: World): Promise<WriteLoad> => ({
  wallets: await world.wallets(),
  movement: { kind: 'debit' },
});

/** Debits of one wallet, which is made for them under this name. */
export const hotDebitsLoad =
  (name: string) =>
  async (world: World): Promise<WriteLoad> => ({
    wallets: [await world.newWallet(name, plentyOfCredits)],
    movement: { kind: 'debit' },
  });

/** The case that every service is good at. What it reaches is what the others are held against. */
export const spread = writing('S1', 'debits spread over all wallets', spreadLoad);

/** Few wallets have most of the traffic, as with real customers. */
export const zipf = writing(
  'S2',
  'debits of wallets chosen by a Zipf distribution (exponent 1)',
  async (world) => ({
    wallets: await world.wallets(),
    choice: { kind: 'zipf', exponent: 1 },
    movement: { kind: 'debit' },
  }),
);

/** All clients want the same wallet, the case in which locks and optimistic retries collapse. */
export const hotDebits = writing('S3', 'debits of one hot wallet', hotDebitsLoad('hot-debits'));

/** Each load is a lot of its own that stays open, so the state of the wallet grows with each. */
export const hotCredits = writing(
  'S3C',
  'credits to one hot wallet, each a lot of its own',
  async (world) => ({
    wallets: [await world.newWallet('hot-credits', '1')],
    movement: { kind: 'credit' },
  }),
);

/** More is asked of a wallet than it has, so many debits are refused, and none may be let through. */
export const nearZero = writing(
  'S4',
  'one hot wallet near zero: debits of 3 and credits of 2',
  async (world) => ({
    wallets: [await world.newWallet('near-zero', '1')],
    movement: { kind: 'contest' },
  }),
);

/** Many entries in one request, for those who can gather them. */
export const bulk = writing('S5', 'bulks of 50 debits, spread over all wallets', async (world) => ({
  wallets: await world.wallets(),
  movement: { kind: 'bulk', entries: 50 },
}));

/** Clients repeat what they have done already; a repetition moves nothing. */
export const repeats = writing(
  'S6',
  'debits spread over all wallets, 20 % of the requests are repetitions',
  async (world) => ({
    wallets: await world.wallets(),
    movement: { kind: 'debit' },
    repeatShare: 0.2,
  }),
);
