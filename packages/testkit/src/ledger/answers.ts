import { isDeepStrictEqual } from 'node:util';
import type { Command } from './commands.ts';
import type { AnyExchange } from './exchange.ts';
import { type Data, isCredit } from './history.ts';
import type { BulkRuling, Ruling } from './oracle.ts';
import type { Effect } from './reference-ledger.ts';
import { creditsOf, shownCredits } from './units.ts';
import type { WalletView } from './wallet-view.ts';

/** An answer, and what the oracle says of its command. */
export interface Judged {
  readonly answer: { readonly status: number; readonly body: Data };
  readonly command: Command;
  readonly ruling: Ruling;
  /** The wallet after the command. */
  readonly view: WalletView;
  readonly numbers: ReadonlyMap<string, number>;
}

type Numbers = Judged['numbers'];

/** Compares what is seen with what must be; a sentence when they differ, else null. */
const differ = (what: string, seen: unknown, right: unknown): string | null =>
  isDeepStrictEqual(seen, right)
    ? null
    : `${what} is ${JSON.stringify(seen)}, should be ${JSON.stringify(right)}`;

/** Returns what is wrong with an answer; null when it says exactly what the rules say. */
export function checkAnswer(judged: Judged): string | null {
  const { answer, ruling, command } = judged;
  if (ruling.kind === 'refused') {
    const seen = [answer.status, answer.body.code, answer.body.details ?? null];
    return differ('the refusal', seen, [400, 'invalid_operation', ruling.details]);
  }
  const status = command.kind === 'hold' ? 201 : 200;
  return differ('the status', answer.status, status) ?? checkBody(judged, ruling.effects);
}

function checkBody(judged: Judged, effects: readonly Effect[]): string | null {
  const { answer, command, view, numbers, ruling } = judged;
  const { body } = answer;
  switch (command.kind) {
    case 'create':
    case 'settings':
    case 'freeze':
    case 'unfreeze':
    case 'terminate':
      return checkWallet(body, view);
    case 'top-up':
      return checkWallet(body.wallet, view) ?? checkTopUp(body, effects, numbers);
    case 'complete':
    case 'cancel':
      return checkWallet(body.wallet, view) ?? checkEnded(command, body, effects, numbers);
    case 'debit':
      return checkWallet(body.wallet, view) ?? checkEntry(body, effects, 'CreditsDebited', numbers);
    case 'capture':
      return checkWallet(body.wallet, view) ?? checkEntry(body, effects, 'HoldCaptured', numbers);
    case 'reverse':
      return checkWallet(body.wallet, view) ?? checkEntry(body, effects, 'DebitReversed', numbers);
    case 'bulk': {
      const rulings = ruling.kind === 'done' ? ruling.results : [];
      return checkWallet(body.wallet, view) ?? checkResults(body.results, rulings, numbers);
    }
    case 'hold':
    case 'change-hold':
    case 'void':
      return checkHold(body, effects);
    default:
      return command satisfies never;
  }
}

/** Returns the part of a wallet resource that the rules determine. */
export const viewIn = (wallet: Data): WalletView => ({
  wallet_status: wallet.wallet_status,
  credit_balance: wallet.credit_balance,
  balance: wallet.balance,
  credits_available_breakdown: wallet.credits_available_breakdown,
  credits_held: wallet.credits_held,
  alert_state: wallet.alert_state,
  auto_topup_status: wallet.auto_topup_status ?? null,
});

const checkWallet = (wallet: Data, view: WalletView): string | null =>
  differ('the wallet', viewIn(wallet), view);

/** Returns the part of a ledger entry that the rules determine, in the words of the oracle. */
export const entryIn = (entry: Data, numbers: Numbers): Data => ({
  number: numbers.get(entry.id),
  kind: entry.type,
  reason: entry.transaction_reason,
  credits: entry.credit_amount,
  amount: entry.amount,
  before: entry.credit_balance_before,
  after: entry.credit_balance_after,
  effective: entry.effective_at,
  ...(entry.type === 'credit'
    ? {
        available: entry.credits_available,
        priority: entry.priority ?? null,
        expires: entry.expiry_date ?? null,
      }
    : {
        requested: entry.credits_requested ?? null,
        missing: entry.credits_missing ?? null,
        drawn: entry.drawn_from.map((draw: Data) => [
          numbers.get(draw.transaction_id),
          draw.credits,
        ]),
      }),
});

/** An effect that is an entry, as `entryIn` gives it. */
export function entryEffect(effect: Effect): Data {
  const { number, reason, credits, amount, before, after, effective } = effect;
  const { available, priority, expires } = effect;
  const isIn = isCredit({ type: effect.type });
  const drawn = (effect.drawn ?? []) as readonly (readonly unknown[])[];
  return {
    number,
    kind: isIn ? 'credit' : 'debit',
    reason,
    credits,
    amount,
    before,
    after,
    effective,
    ...(isIn
      ? { available, priority: priority ?? null, expires: expires ?? null }
      : {
          requested: effect.requested ?? null,
          missing: missingOf(effect),
          drawn: drawn.map(([lot, taken]) => [lot, taken]),
        }),
  };
}

/** Credits that a debit in part was asked for and did not take; null where it had to be whole. */
const missingOf = ({ requested, credits }: Effect): string | null =>
  typeof requested === 'string'
    ? shownCredits(creditsOf(requested) - creditsOf(String(credits)))
    : null;

function checkEntry(
  body: Data,
  effects: readonly Effect[],
  type: string,
  numbers: Numbers,
): string | null {
  const effect = effects.find((each) => each.type === type);
  if (!effect) return `an answer with an entry where there is no ${type}`;
  return differ('the entry', entryIn(body.wallet_transaction, numbers), entryEffect(effect));
}

/** A top-up is a load, or an order that leaves the balance as it is. */
function checkTopUp(body: Data, effects: readonly Effect[], numbers: Numbers): string | null {
  const ordered = effects.find(({ type, automatic }) => type === 'TopUpRequested' && !automatic);
  if (!ordered) return checkEntry(body, effects, 'CreditsLoaded', numbers);
  const entry = body.wallet_transaction;
  const { id, reason, credits, amount, balance } = ordered;
  const right = [id, 'pending', reason, credits, amount, balance, balance, '0'];
  return differ('the order', orderIn(entry), right);
}

const orderIn = (entry: Data): unknown[] => [
  entry.id,
  entry.transaction_status,
  entry.transaction_reason,
  entry.credit_amount,
  entry.amount,
  entry.credit_balance_before,
  entry.credit_balance_after,
  entry.credits_available,
];

/** An order that has ended is shown as it ended, whoever asks for it once more. */
function checkEnded(
  command: Extract<Command, { kind: 'complete' | 'cancel' }>,
  body: Data,
  effects: readonly Effect[],
  numbers: Numbers,
): string | null {
  const entry = body.wallet_transaction;
  const status = command.kind === 'complete' ? 'completed' : 'failed';
  const seen = [entry.id, entry.transaction_status];
  const loaded = effects.find(({ order }) => order === command.order);
  return (
    differ('the order', seen, [command.order, status]) ??
    (loaded ? differ('the entry', entryIn(entry, numbers), entryEffect(loaded)) : null)
  );
}

function checkHold(body: Data, effects: readonly Effect[]): string | null {
  const made = effects.find(({ type }) => type === 'CreditsHeld');
  if (made) {
    const seen = [body.hold_status, body.credits, body.captured_credits, body.expires_at ?? null];
    return differ('the hold', seen, ['open', made.credits, '0', made.expires]);
  }
  const changed = effects.find(({ type }) => type === 'HoldChanged');
  if (changed) {
    const seen = [body.hold_status, body.credits, body.expires_at ?? null];
    return differ('the hold', seen, ['open', changed.credits, changed.expires]);
  }
  if (body.hold_status === 'open') return null;
  const ended = effects.find(({ id, cause }) => id === body.id && cause === 'voided');
  return differ('the hold', [body.hold_status, body.ended_at], ['voided', ended?.at]);
}

function checkResults(
  results: readonly Data[],
  rulings: readonly BulkRuling[],
  numbers: Numbers,
): string | null {
  const seen = results.map(({ index, status, wallet_transaction, error }) => [
    index,
    status,
    wallet_transaction ? numbers.get(wallet_transaction.id) : (error.details ?? null),
  ]);
  const right = rulings.map((ruling, index) =>
    'number' in ruling ? [index, 'completed', ruling.number] : [index, 'failed', ruling.details],
  );
  return differ('the results', seen, right);
}

/** Tells whether a repetition got the first answer again, word for word. */
export function checkReplay(repeated: AnyExchange, first: AnyExchange): boolean {
  const { answer } = repeated;
  if (answer === null || !isSameBody(repeated, first)) return false;
  if (first.answer === null || first.answer.status >= 500) return true;
  const isReplay = answer.isReplay || answer.status >= 400;
  return isReplay && answer.status === first.answer.status && sayTheSame(answer, first.answer);
}

/** Failures name the request in `instance`; everything else must be equal. */
const sayTheSame = (one: { readonly body: Data }, other: { readonly body: Data }): boolean =>
  isDeepStrictEqual({ ...one.body, instance: null }, { ...other.body, instance: null });

/** Tells whether a request with the key of another one was told in which fields it differs. */
export function isConflictOf(repeated: AnyExchange, first: AnyExchange): boolean {
  const { answer } = repeated;
  const differing = differingFields(bodyOf(repeated.command), bodyOf(first.command));
  return (
    differing.length > 0 &&
    answer?.status === 409 &&
    answer.body.code === 'idempotency_conflict' &&
    isDeepStrictEqual(answer.body.details?.fields, differing)
  );
}

const bodyOf = (command: AnyExchange['command']): Data =>
  'body' in command ? (command.body as Data) : {};

const isSameBody = (one: AnyExchange, other: AnyExchange): boolean =>
  differingFields(bodyOf(one.command), bodyOf(other.command)).length === 0;

/** Names of the fields in which two bodies differ. Generated bodies never spell a default out. */
export function differingFields(one: Data, other: Data): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => !isDeepStrictEqual(one[name], other[name])).sort();
}
