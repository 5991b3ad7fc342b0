import * as assert from 'uvu/assert';
import { explainDebits } from './account.ts';
import { checkTampering } from './checks/chain-checks.ts';
import type { Fault } from './checks/fault.ts';
import { checkLots, checkNoNegative } from './checks/lot-checks.ts';
import { checkBalanceChain, checkConservation } from './checks/money-checks.ts';
import {
  checkNoDebtInPast,
  checkPast,
  momentsOf,
  type PastAnswer,
  type PeriodAnswer,
} from './checks/past-checks.ts';
import { checkDurability, checkKeys, type Published } from './checks/request-checks.ts';
import { checkStates } from './checks/state-checks.ts';
import { checkReads, type Reads } from './checks/view-checks.ts';
import { checkDeterminism, checkIsolation } from './checks/world-checks.ts';
import type { LedgerClient } from './client.ts';
import type { Exchange, LedgerAnswer } from './exchange.ts';
import { type History, isOfLook } from './history.ts';
import { type Circumstances, linearise } from './linearise.ts';
import { replayed, replayedTogether } from './replay.ts';
import { type ScenarioResult, scenarioCurrency } from './scenario-runner.ts';
import type { DebitsStory, WalletStory } from './together.ts';

/** All that is known of a wallet, for the checkers. */
export interface Evidence extends Circumstances {
  readonly history: History;
  readonly exchanges: readonly Exchange[];
  readonly reads: Reads;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly strangers: readonly LedgerAnswer[];
  readonly published?: readonly Published[];
  /**
   * The same commands carried out once more, where they are not only this wallet's; null when they cannot be. When
   * absent they are carried out again.
   */
  readonly again?: History | null;
}

/** All that is known of the wallets of a customer, and the debits over them. */
export interface CustomerEvidence {
  readonly wallets: readonly (Omit<Evidence, 'shares' | 'debits' | 'again'> & WalletStory)[];
  readonly debits: DebitsStory;
}

/** The checkers that need nothing but the ledger itself. */
export const ledgerChecks = [
  checkConservation,
  checkBalanceChain,
  checkLots,
  checkNoNegative,
  checkTampering,
  checkStates,
] as const;

/** Every invariant that a ledger breaks, judged by the ledger alone. */
export const ledgerFaults = (history: History): Fault[] =>
  ledgerChecks.flatMap((check) => check(history) ?? []);

/**
 * Asserts that the debits over the wallets of a customer are what the rules say, and every ledger, their parts
 * included, is what the oracle says, and that all of I1 to I11 hold.
 */
export async function assertCustomerProven(evidence: CustomerEvidence): Promise<void> {
  const { wallets, debits } = evidence;
  const { shares, isInterrupted } = explainDebits(evidence);
  // Looks at what is going to be paid follow from tables, and nobody asks for them: what they bring about cannot be asked for again.
  const isLookedAt = wallets.some(({ history }) => history.some(isOfLook));
  const again = isInterrupted || isLookedAt ? null : await replayedTogether(evidence);
  for (const [index, wallet] of wallets.entries()) {
    await assertProven({
      ...wallet,
      shares: shares[index] ?? new Map(),
      debits: debits.exchanges,
      again: again?.[index] ?? null,
    });
  }
  assertSound([checkKeys(debits)]);
}

/** Asserts that a ledger is what the oracle says and that all of I1 to I11 hold of it. */
export async function assertProven(evidence: Evidence): Promise<void> {
  const { history, exchanges } = evidence;
  const oracle = linearise(history, exchanges, evidence);
  const { entries, past, periods } = evidence.reads;
  const { again = await replayed(history, exchanges) } = evidence;
  assertSound([
    ...ledgerFaults(history),
    checkKeys(evidence),
    checkDurability(evidence),
    checkReads(evidence),
    checkPast({ history, oracle, entries, past, periods }),
    checkNoDebtInPast({ history, oracle }),
    checkIsolation(evidence),
    again && checkDeterminism({ history, again }),
  ]);
}

function assertSound(found: readonly (Fault | null)[]): void {
  const faults = found.flatMap((fault) => fault ?? []);
  const sentences = faults.map(({ invariant, revision, message }) => {
    return `${invariant}${revision === null ? '' : ` at revision ${revision}`}: ${message}`;
  });
  assert.is(sentences.join('\n'), '', sentences.join('\n'));
}

/** Reads balances of the past: as they are known now, and as they were known at some time. */
async function pastOf(
  client: LedgerClient,
  walletId: string,
  history: History,
): Promise<readonly PastAnswer[]> {
  const moments = momentsOf(history);
  const answers: PastAnswer[] = [];
  const ask = async (asOf: string, knownAt: string | null) => {
    const query = { as_of: asOf, ...(knownAt === null ? {} : { known_at: knownAt }) };
    answers.push({ asOf, knownAt, answer: await client.read(walletId, '/balance', query) });
  };
  for (const [index, moment] of moments.entries()) {
    await ask(moment, null);
    await ask(moment, moments[(index * 2 + 1) % moments.length] ?? moment);
  }
  return answers;
}

/** Reads the entries of some periods, by their ends (D71). */
async function periodsOf(
  client: LedgerClient,
  walletId: string,
  history: History,
): Promise<readonly PeriodAnswer[]> {
  const moments = momentsOf(history);
  const [middle, last] = [Math.floor(moments.length / 2), moments.length - 1];
  const ends = [
    [0, middle],
    [middle, last],
    [Math.floor(middle / 2), Math.min(middle + 1, last)],
  ];
  return Promise.all(
    ends.map(async ([first = 0, end = 0]) => {
      const [from = '', to = ''] = [moments[first], moments[end]];
      const start_time = new Date(Date.parse(from) + 1).toISOString();
      // A period within one instant has nothing in it, and cannot be asked for.
      if (start_time > to) return { from, to: from, items: [] };
      const query = { limit: '1000', start_time, end_time: to };
      return { from, to, items: (await client.read(walletId, '/transactions', query)).items };
    }),
  );
}

/** Reads a wallet, and its ledger at that very moment. */
export async function readAll(
  client: LedgerClient,
  walletId: string,
): Promise<{ readonly history: History; readonly reads: Reads }> {
  for (;;) {
    const before = await client.history(walletId);
    const wallet = await client.read(walletId, '');
    const entries = await client.read(walletId, '/transactions');
    const holds = await client.read(walletId, '/holds');
    const balance = await client.read(walletId, '/balance');
    const past = await pastOf(client, walletId, before);
    const periods = await periodsOf(client, walletId, before);
    const history = await client.history(walletId);
    // Something may have fallen due meanwhile.
    if (before.length !== history.length) continue;
    return {
      history,
      reads: { wallet, entries: entries.items, holds: holds.items, balance, past, periods },
    };
  }
}

/** Reads all wallets of a customer, and the log of the debits over them. */
export async function readTogether(
  client: LedgerClient,
  { customerId, wallets, debits }: ScenarioResult,
  owner: Pick<Evidence, 'tenantId' | 'environmentId' | 'strangers' | 'isPunctual'>,
): Promise<CustomerEvidence> {
  const read: CustomerEvidence['wallets'][number][] = [];
  for (const { walletId, exchanges } of wallets) {
    read.push({ walletId, exchanges, ...(await readAll(client, walletId)), ...owner });
  }
  const history = await client.debits(customerId, scenarioCurrency);
  return { wallets: read, debits: { history, exchanges: debits } };
}
