import { type Data, type Fact, isEntry } from './history.ts';
import type { Effect } from './reference-ledger.ts';

/** Number of each entry of a wallet, by its id. */
export function entryNumbers(history: readonly Fact[]): ReadonlyMap<string, number> {
  return new Map(
    history
      .filter(isEntry)
      .map(({ data }) => [String(data.transaction_id), Number(data.sequence)] as const),
  );
}

type Numbers = ReadonlyMap<string, number>;

const drawsOf = (parts: readonly Data[], numbers: Numbers) =>
  parts.map(({ transaction_id, credits, remaining }) => [
    numbers.get(transaction_id) ?? transaction_id,
    credits,
    remaining,
  ]);

const entryOf = ({ type, data }: Fact): Effect => ({
  type,
  number: data.sequence,
  reason: data.reason,
  credits: data.credits,
  amount: data.amount,
  before: data.credit_balance_before,
  after: data.credit_balance_after,
  effective: data.effective_at,
});

const occasionOf = ({ cause, cause_id }: Data, numbers: Numbers) => ({
  cause,
  by: numbers.get(cause_id) ?? cause_id,
});

const automaticOf = ({ automatic }: Data, numbers: Numbers) =>
  automatic
    ? {
        ...occasionOf(automatic, numbers),
        day: automatic.day,
        number: automatic.number,
      }
    : null;

/**
 * Returns what an event says, in the words of the oracle: figures and numbers of entries. Throws
 * for a type that the oracle does not know, so that nothing can be added that nobody checks.
 */
export function effectOf(event: Fact, numbers: Numbers): Effect {
  const { type, data } = event;
  switch (type) {
    case 'CreditsLoaded': {
      const { credits_available: available, priority, expires_at: expires } = data;
      const { requested } = data;
      const order = requested ? data.transaction_id : null;
      const ordered = requested?.at ?? null;
      const automatic = automaticOf(data, numbers);
      return { ...entryOf(event), available, priority, expires, order, ordered, automatic };
    }
    case 'TopUpRequested': {
      const { transaction_id: id, reason, credits, amount, priority, expires_at: expires } = data;
      const { credit_balance: balance } = data;
      const automatic = automaticOf(data, numbers);
      return { type, id, reason, credits, amount, priority, expires, balance, automatic };
    }
    case 'TopUpFailed': {
      const { transaction_id: id, cause, failed_at: at, credit_balance: balance } = data;
      return { type, id, cause, at, balance };
    }
    case 'AutomaticTopUpStopped': {
      const { day, limit, available } = data;
      return { type, ...occasionOf(data, numbers), day, limit, available };
    }
    case 'CreditsDebited': {
      const requested = data.credits_requested ?? null;
      return { ...entryOf(event), requested, drawn: drawsOf(data.drawn, numbers) };
    }
    case 'CreditsExpired':
      return { ...entryOf(event), drawn: drawsOf(data.drawn, numbers) };
    case 'HoldCaptured':
      return {
        ...entryOf(event),
        id: data.hold_id,
        isFinal: data.is_final,
        drawn: drawsOf(data.drawn, numbers),
        returned: drawsOf(data.returned, numbers),
      };
    case 'DebitReversed': {
      const { reversed, renewed_until: renewed, credits_available: available } = data;
      const returned = data.returned.map((lot: Data) => ({
        lot: numbers.get(lot.transaction_id),
        credits: lot.credits,
        remaining: lot.remaining,
        isPurchased: lot.class === 'purchased',
        priority: lot.priority,
        expires: lot.expires_at,
      }));
      return {
        ...entryOf(event),
        reverses: numbers.get(data.reverses),
        reversed,
        renewed,
        returned,
        available,
      };
    }
    case 'CreditsHeld': {
      const { hold_id: id, credits, expires_at: expires, drawn } = data;
      return { type, id, credits, expires, drawn: drawsOf(drawn, numbers) };
    }
    case 'HoldChanged': {
      const { hold_id: id, credits, expires_at: expires } = data;
      const [drawn, returned] = [drawsOf(data.drawn, numbers), drawsOf(data.returned, numbers)];
      const parts = data.parts.map((part: Data) => [
        numbers.get(part.transaction_id),
        part.credits,
      ]);
      return { type, id, credits, expires, drawn, returned, parts };
    }
    case 'HoldReleased': {
      const { hold_id: id, cause, released_at: at, returned } = data;
      return { type, id, cause, at, returned: drawsOf(returned, numbers) };
    }
    case 'BulkRecorded':
      return { type, results: data.results.map((result: Data) => resultOf(result, numbers)) };
    case 'AlertStateChanged':
      return { type, before: data.before, after: data.after, available: data.available };
    case 'WalletCreated':
    case 'WalletSettingsChanged':
    case 'WalletFrozen':
    case 'WalletUnfrozen':
    case 'WalletClosed':
      return { type };
    default:
      throw new Error(`the oracle does not know the event ${type}`);
  }
}

const resultOf = (result: Data, numbers: Numbers) =>
  'transaction_id' in result
    ? { number: numbers.get(result.transaction_id) }
    : { details: result.details };
