import type { RequestContext } from '@counterfoil/engine/define';
import {
  decimal,
  type Instant,
  invalidField,
  invariant,
  type Stamped,
  shiftedBy,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type { WalletEvent } from '../events.ts';
import { effectiveAt } from '../ledger/times.ts';
import { isMovement, type MovementEvent } from '../ledger/transaction.ts';
import { wallet } from '../wallet.ts';
import { assertNotAhead, latest, loadWallet } from './audit.ts';
import type { StatementQuery, WalletStatement } from './schema.ts';
import { balanceAdder } from './time-travel.ts';

/** The most entries of one statement. */
export const statementEntriesMaximum = 5_000;

/**
 * The statement of a wallet: what it held at `from`, the entries with from < effective_at ≤ to, what it held at `to`, all
 * as far as the log knew it at `known_at`. It reads the log alone, once, so that it adds up whatever is written meanwhile.
 * Without `from` it begins with the wallet. Throws 404, and 400 for a period that ends before it begins, that has not
 * come, or that has more entries than one statement holds.
 */
export async function walletStatement(
  context: RequestContext,
  id: string,
  query: StatementQuery,
): Promise<WalletStatement> {
  const state = await loadWallet(context, id);
  const now = latest(context, state);
  const { to = now, known_at: knownAt = now } = query;
  const from = query.from ?? shiftedBy(state.created_at, -1);
  assertNotAhead(to, now, '/to');
  assertNotAhead(knownAt, now, '/known_at');
  if (from > to) throw invalidField('/from', `must not be after to, which is ${to}`);
  const [opening, closing] = [balanceAdder(from, knownAt), balanceAdder(to, knownAt)];
  const found: Stamped<MovementEvent>[] = [];
  for await (const event of context.history(wallet, id)) {
    opening.take(event);
    closing.take(event);
    if (event.stamp.occurred_at > knownAt || !isIn(event, from, to)) continue;
    found.push(event);
    if (found.length > statementEntriesMaximum) throw tooMany();
  }
  const opened = opening.result().credit_balance;
  const closed = closing.result().credit_balance;
  const { entries, credits_in, credits_out, end } = entriesOf(found, opened);
  invariant(end === closed, `the statement of ${id} ends at ${end}, and the wallet at ${closed}`);
  return {
    wallet_id: id,
    wallet_name: state.name,
    customer_id: state.customer_id,
    currency: state.currency,
    from,
    to,
    known_at: knownAt,
    opening_balance: opened,
    credits_in,
    credits_out,
    closing_balance: closed,
    closing_amount: textOf(decimal(closed).times(decimal(state.conversion_rate))),
    entries,
  };
}

const isIn = (
  event: Stamped<WalletEvent>,
  from: Instant,
  to: Instant,
): event is Stamped<MovementEvent> =>
  isMovement(event) && effectiveAt(event) > from && effectiveAt(event) <= to;

const tooMany = () =>
  invalidField(
    '/from',
    `the period has more than ${statementEntriesMaximum} entries: ask for a shorter one`,
  );

const addsCredits = ({ type }: MovementEvent): boolean =>
  type === 'CreditsLoaded' || type === 'DebitReversed';

/** Entries by when they count, those of one instant in the order of the log, with the balance after each. */
function entriesOf(events: readonly Stamped<MovementEvent>[], opening: string) {
  let [balance, added, taken] = [decimal(opening), zero, zero];
  const byInstant = events.toSorted((left, right) =>
    effectiveAt(left) < effectiveAt(right) ? -1 : effectiveAt(left) > effectiveAt(right) ? 1 : 0,
  );
  const entries = byInstant.map((event): WalletStatement['entries'][number] => {
    const { data, stamp } = event;
    const credits = decimal(data.credits);
    const change = addsCredits(event) ? credits : zero.minus(credits);
    balance = balance.plus(change);
    if (addsCredits(event)) added = added.plus(credits);
    else taken = taken.plus(credits);
    return {
      transaction_id: data.transaction_id,
      effective_at: effectiveAt(event),
      completed_at: stamp.occurred_at,
      transaction_reason: data.reason,
      change: textOf(change),
      credit_balance: textOf(balance),
      ...(data.description === null ? {} : { description: data.description }),
      ...(data.reference_id === null ? {} : { reference_id: data.reference_id }),
    };
  });
  return { entries, credits_in: textOf(added), credits_out: textOf(taken), end: textOf(balance) };
}
