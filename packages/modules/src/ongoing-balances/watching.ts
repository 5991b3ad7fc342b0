import type { AskingContext } from '@counterfoil/engine/define';
import { usageTables } from '../usage/index.ts';

/** Features with alerts that one environment has looked at, in the order of their ids. */
export const featuresMaximum = 100;
/** Prepaid wallets of one customer that are looked at: 50 of each currency bear something. */
const walletsMaximum = 1_000;

/** The answer to who wants to hear of balances, as far as the log was followed when a mark was made. */
export interface Watching {
  /** Tells whether anybody in the environment does: mostly nobody, and then nothing else is asked. */
  readonly isWanted: (context: AskingContext) => Promise<boolean>;
  /** Tells whether a customer has a wallet with alerts or automatic top-up. */
  readonly isWatched: (context: AskingContext, customerId: string) => Promise<boolean>;
  /** The ids of the prepaid wallets of a customer. */
  readonly walletsOf: (context: AskingContext, customerId: string) => Promise<readonly string[]>;
  /** The ids of the features with alerts. */
  readonly features: (context: AskingContext) => Promise<readonly string[]>;
}

/** The same, as the tables of usage have it: they are filled together with the marks. */
export const watchingOfTables: Watching = {
  isWanted: async ({ facts }) => {
    const found = await facts.query(usageTables, (from) =>
      from
        .selectFrom('watched_balance')
        .select('id')
        .where('wanted', '=', true)
        .unionAll(from.selectFrom('alerting_feature').select('feature_id as id'))
        .limit(1),
    );
    return found.length > 0;
  },
  isWatched: async ({ facts }, customerId) => {
    const found = await facts.query(usageTables, (from) =>
      from
        .selectFrom('watched_balance')
        .select('id')
        .where('id', '=', customerId)
        .where('wanted', '=', true)
        .limit(1),
    );
    return found.length > 0;
  },
  walletsOf: async ({ facts }, customerId) => {
    const found = await facts.query(usageTables, (from) =>
      from
        .selectFrom('watched_wallet')
        .select('id')
        .where('customer_id', '=', customerId)
        .limit(walletsMaximum),
    );
    return found.map(({ id }) => id);
  },
  features: async ({ facts }) => {
    const found = await facts.query(usageTables, (from) =>
      from
        .selectFrom('alerting_feature')
        .select('feature_id')
        .orderBy('feature_id')
        .limit(featuresMaximum),
    );
    return found.map(({ feature_id }) => feature_id);
  },
};
