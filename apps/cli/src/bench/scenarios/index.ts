import type { Scenario } from '../scenario.ts';
import { catchUp } from './catch-up.ts';
import { lag } from './lag.ts';
import { spread } from './s01-spread.ts';
import { zipf } from './s02-zipf.ts';
import { hotCredits } from './s03-hot-credits.ts';
import { hotDebits } from './s03-hot-debits.ts';
import { nearZero } from './s04-near-zero.ts';
import { bulk } from './s05-bulk.ts';
import { repeats } from './s06-repeats.ts';
import { readsUnderWrites } from './s08-reads-under-writes.ts';
import { kills } from './s09-kills.ts';
import { coldWallet } from './s10-cold-wallet.ts';

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  spread,
  zipf,
  hotDebits,
  hotCredits,
  nearZero,
  bulk,
  repeats,
  lag,
  readsUnderWrites,
  kills,
  coldWallet,
  catchUp,
];
