import { isDeepStrictEqual } from 'node:util';
import { type Data, type History, isEntry } from '../history.ts';
import type { Oracle } from '../oracle.ts';
import { creditsOf, shownCredits } from '../units.ts';
import { checker, must } from './fault.ts';

/** A balance of the past as the service answers it, and the question. */
export interface PastAnswer {
  readonly asOf: string;
  /** Null where it was not asked for. */
  readonly knownAt: string | null;
  readonly answer: Data;
}

/** A wallet's past as it is read, and as the oracle knows it. */
export interface PastEvidence {
  readonly history: History;
  readonly oracle: Pick<Oracle, 'pastAt' | 'moments'>;
  readonly entries: readonly Data[];
  readonly past: readonly PastAnswer[];
}

/** The most moments of either kind whose balances are asked for. */
const momentsMaximum = 8;

/** Moments of a ledger: of those at which something counts that was recorded later, and of all others. */
export function momentsOf(history: History): string[] {
  const late = history.flatMap(({ data, metadata }) => {
    const from: string | undefined = data.effective_at ?? data.released_at;
    return from && from < metadata.occurred_at ? [from] : [];
  });
  const recorded = history.map(({ metadata }) => metadata.occurred_at);
  return [...new Set([...spread(late), ...spread(recorded)])].sort();
}

/** Some of the moments, in even steps. */
function spread(moments: readonly string[]): string[] {
  const all = [...new Set(moments)].sort();
  const step = Math.ceil(all.length / momentsMaximum);
  return all.filter((_, index) => index % step === 0);
}

const knownAll = Number.POSITIVE_INFINITY;

/** I7: balances of the past, down to the lots, are those of the oracle, as they were known at any time. */
const checkBalances = ({ oracle, history, past }: PastEvidence): void => {
  const numbers = new Map(
    history.filter(isEntry).map(({ data }) => [data.transaction_id, data.sequence]),
  );
  for (const { asOf, knownAt, answer } of past) {
    const right = oracle.pastAt(Date.parse(asOf), knownAt ? Date.parse(knownAt) : knownAll);
    const lots = answer.lots
      .map(({ transaction_id, credits }: Data) => [numbers.get(transaction_id), credits])
      .sort(([a]: number[], [b]: number[]) => (a ?? 0) - (b ?? 0));
    const seen = { balance: answer.credit_balance, held: answer.credits_held, lots };
    const message = `as of ${asOf}, known at ${knownAt}, ${JSON.stringify(seen)} should be ${JSON.stringify(right)}`;
    must(isDeepStrictEqual(seen, right), null, message);
  }
};

/** I7: the rows between any two moments are the difference of the balances, to the last digit (D71). */
const checkStatements = ({ entries, past }: PastEvidence): void => {
  const ends = past.filter(({ knownAt }) => knownAt === null);
  const rows = entries.filter(({ transaction_status }) => transaction_status === 'completed');
  for (const from of ends) {
    for (const to of ends) {
      if (to.asOf < from.asOf) continue;
      const moved = rows
        .filter(({ effective_at: at }) => from.asOf < at && at <= to.asOf)
        .reduce((sum, { type, credit_amount }) => {
          const credits = creditsOf(credit_amount);
          return type === 'credit' ? sum + credits : sum - credits;
        }, 0n);
      const closing = creditsOf(from.answer.credit_balance) + moved;
      const message = `rows from ${from.asOf} to ${to.asOf} lead to ${shownCredits(closing)}, not ${to.answer.credit_balance}`;
      must(shownCredits(closing) === to.answer.credit_balance, null, message);
    }
  }
};

/** Statements add up, and the past is what the oracle knows. */
export const checkPast = checker('I7', (evidence: PastEvidence) => {
  checkBalances(evidence);
  checkStatements(evidence);
});

/** I4: no entry that was dated back has left a PRE_PAID balance below zero at any instant (D73). */
export const checkNoDebtInPast = checker('I4', ({ history, oracle }: PastEvidence) => {
  if (history[0]?.data.wallet_type === 'POST_PAID') return;
  for (const moment of oracle.moments()) {
    const { balance } = oracle.pastAt(moment, knownAll);
    must(creditsOf(balance) >= 0n, null, `as of ${moment} the balance is ${balance}`);
  }
});
