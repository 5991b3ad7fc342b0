import type { Scenario } from '../scenario.ts';
import { attacked } from './attacked.ts';
import { catchUp } from './catch-up.ts';
import { coldWallet } from './cold-wallet.ts';
import { kills } from './kills.ts';
import { lag } from './lag.ts';
import { processesInTurn } from './processes-in-turn.ts';
import { readsUnderWrites } from './reads-under-writes.ts';
import { bulk, hotCredits, hotDebits, nearZero, repeats, spread, zipf } from './writes.ts';
import { year } from './year.ts';

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
  processesInTurn,
  kills,
  attacked,
  coldWallet,
  catchUp,
  year,
];
