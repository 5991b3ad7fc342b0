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

/** The completed entries of a period as the list gives them: after one instant, up to another. */
export interface PeriodAnswer {
  readonly from: string;
  readonly to: string;
  readonly items: readonly Data[];
}

/** A wallet's past as it is read, and as the oracle knows it. */
export interface PastEvidence {
  readonly history: History;
  readonly oracle: Pick<Oracle, 'pastAt' | 'moments'>;
  readonly entries: readonly Data[];
  readonly past: readonly PastAnswer[];
  readonly periods: readonly PeriodAnswer[];
}

/** The most moments of either kind whose balances are asked for. */
const momentsMaximum = 6;
/** The most moments that lie between those. */
const betweenMaximum = 3;

/**
 * Moments of a ledger: of those at which something counts that was recorded later, and of all others, each exactly;
 * and some that lie between, a millisecond before such a one or somewhere after it.
 */
export function momentsOf(history: History): string[] {
  const late = history.flatMap(({ data, metadata }) => {
    const from: string | undefined = data.effective_at ?? data.released_at;
    return from && from < metadata.occurred_at ? [from] : [];
  });
  const recorded = history.map(({ metadata }) => metadata.occurred_at);
  const exact = [...spread(late), ...spread(recorded)].sort();
  const [first = '', last = ''] = [recorded[0], recorded.at(-1)];
  const between = spread(exact.slice(1), betweenMaximum).map((moment, index) => {
    const time = Date.parse(moment);
    const next = Date.parse(exact.find((other) => other > moment) ?? moment);
    const other = index % 2 === 0 ? time - 1 : Math.floor((time + next) / 2);
    return new Date(other).toISOString();
  });
  const inside = between.filter((moment) => first <= moment && moment <= last);
  return [...new Set([...exact, ...inside])].sort();
}

/** Some of the moments, in even steps. */
function spread(moments: readonly string[], maximum = momentsMaximum): string[] {
  const all = [...new Set(moments)].sort();
  const step = Math.ceil(all.length / maximum);
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
const checkStatements = ({ entries, past }: Pick<PastEvidence, 'entries' | 'past'>): void => {
  for (const { from, to, rows } of statementsOf(entries, past)) {
    const moved = rows.reduce((sum, { type, credit_amount }) => {
      const credits = creditsOf(credit_amount);
      return type === 'credit' ? sum + credits : sum - credits;
    }, 0n);
    const closing = creditsOf(from.answer.credit_balance) + moved;
    const message = `rows from ${from.asOf} to ${to.asOf} lead to ${shownCredits(closing)}, not ${to.answer.credit_balance}`;
    must(shownCredits(closing) === to.answer.credit_balance, null, message);
  }
};

interface Statement {
  readonly from: PastAnswer;
  readonly to: PastAnswer;
  readonly rows: readonly Data[];
}

/** Every statement that the balances of the past are the ends of. */
function statementsOf(entries: readonly Data[], past: readonly PastAnswer[]): Statement[] {
  const ends = past.filter(({ knownAt }) => knownAt === null);
  const completed = entries.filter(({ transaction_status: status }) => status === 'completed');
  return ends.flatMap((from) =>
    ends
      .filter((to) => from.asOf <= to.asOf)
      .map((to) => ({ from, to, rows: completed.filter(isWithin(from.asOf, to.asOf)) })),
  );
}

const isWithin =
  (from: string, to: string) =>
  ({ effective_at: at }: Data): boolean =>
    from < at && at <= to;

/** I7: the list, asked for a period by its ends, has exactly the rows that count in it. */
const checkPeriods = ({ entries, periods }: Pick<PastEvidence, 'entries' | 'periods'>): void => {
  for (const { from, to, items } of periods) {
    const right = entries.filter(isWithin(from, to)).map(({ id }) => id);
    const seen = items.map(({ id }) => id);
    const message = `from ${from} to ${to} the list has ${seen}, should have ${right}`;
    must(isDeepStrictEqual(seen.toSorted(), right.toSorted()), null, message);
  }
};

/** The entries whose place in a statement is hard to find, by what makes it so. */
const hardKinds = {
  'an order that was paid later': ({ recorded_at, effective_at }: Data) =>
    recorded_at < effective_at,
  'an expiry that was booked late': ({ transaction_reason, effective_at, completed_at }: Data) =>
    transaction_reason === 'CREDIT_EXPIRED' && effective_at < completed_at,
  'a reversal': ({ reverses }: Data) => reverses !== undefined,
  'an entry that was dated back': ({ transaction_reason, effective_at, recorded_at }: Data) =>
    transaction_reason !== 'CREDIT_EXPIRED' && effective_at < recorded_at,
} as const;

/** The hard kinds of entries in each statement of a wallet that has any. */
export const hardStatements = (
  entries: readonly Data[],
  past: readonly PastAnswer[],
): readonly (readonly string[])[] =>
  statementsOf(entries, past)
    .map(({ rows }) =>
      Object.entries(hardKinds).flatMap(([kind, isOne]) => (rows.some(isOne) ? [kind] : [])),
    )
    .filter((kinds) => kinds.length > 0);

/** Statements add up, and the past is what the oracle knows. */
export const checkPast = checker('I7', (evidence: PastEvidence) => {
  checkBalances(evidence);
  checkStatements(evidence);
  checkPeriods(evidence);
});

/** I4: no entry that was dated back has left a PRE_PAID balance below zero at any instant (D73). */
type Judged = Pick<PastEvidence, 'history' | 'oracle'>;
export const checkNoDebtInPast = checker('I4', ({ history, oracle }: Judged) => {
  if (history[0]?.data.wallet_type === 'POST_PAID') return;
  for (const moment of oracle.moments()) {
    const { balance } = oracle.pastAt(moment, knownAll);
    must(creditsOf(balance) >= 0n, null, `as of ${moment} the balance is ${balance}`);
  }
});
