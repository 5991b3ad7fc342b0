import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Caller } from '../caller.ts';
import { patienceMilliseconds } from '../eventually.ts';

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

const answerMilliseconds = patienceMilliseconds;
const requestMilliseconds = 20_000;
const repeatMilliseconds = 50;

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

/**
 * Sends a movement as a careful client does: after a broken connection, or an answer that says that
 * the service is at fault, it repeats the request with the same key until there is a final answer.
 * Throws when that is a refusal or never comes.
 */
export async function insist(caller: Caller, movement: Movement): Promise<Acknowledged> {
  const deadline = Date.now() + answerMilliseconds;
  let last = 'no answer';
  while (Date.now() < deadline) {
    const answer = await once(caller, movement);
    if (typeof answer !== 'string') {
      if (answer.status < 300) return acknowledged(movement, answer);
      last = `${answer.status} ${answer.text}`;
      if (answer.status < 500) break;
    } else {
      last = answer;
    }
    await pause(repeatMilliseconds);
  }
  throw new Error(`${movement.kind} ${movement.key} was not acknowledged: ${last}`);
}

/** The answer, or why there was none. */
const once = (caller: Caller, movement: Movement): Promise<Answer | string> =>
  Promise.race([
    send(caller, movement).catch(String),
    pause(requestMilliseconds, 'no answer in time', { ref: false }),
  ]);
