import type { Answer, Caller } from '../caller.ts';
import { untilAccepted } from './insist.ts';

/** A change of a wallet's balance that a client asks for. Credits are whole numbers. */
export interface Movement {
  readonly walletId: string;
  readonly kind: 'debit' | 'top-up';
  readonly credits: string;
  /** The Idempotency-Key: the same for every repetition. */
  readonly key: string;
}

/** An entry of the ledger, as far as it never changes. */
export interface Entry {
  readonly id: string;
  readonly type: 'credit' | 'debit';
  readonly credit_amount: string;
  readonly credit_balance_before: string;
  readonly credit_balance_after: string;
  readonly idempotency_key?: string;
}

/** A movement that the API has confirmed. */
export interface Acknowledged extends Movement {
  readonly entry: Entry;
  /** Its place in the log. */
  readonly position: bigint;
}

/** Sends a movement once. */
export function send(caller: Caller, { walletId, kind, credits, key }: Movement): Promise<Answer> {
  const body =
    kind === 'debit'
      ? { credits }
      : { credits_to_add: credits, transaction_reason: 'PURCHASED_CREDIT_DIRECT' };
  const headers = { 'idempotency-key': key };
  return caller.call('POST', `/wallets/${walletId}/${kind}`, body, headers);
}

/** Returns what a successful answer confirms. */
export function acknowledged(movement: Movement, { body, headers }: Answer): Acknowledged {
  return {
    ...movement,
    entry: body.wallet_transaction,
    position: BigInt(headers.get('counterfoil-position') ?? ''),
  };
}

/** Sends a movement until it is acknowledged. Throws when it is refused, or never answered. */
export const insist = async (caller: Caller, movement: Movement): Promise<Acknowledged> =>
  acknowledged(
    movement,
    await untilAccepted(() => send(caller, movement), `${movement.kind} ${movement.key}`),
  );
