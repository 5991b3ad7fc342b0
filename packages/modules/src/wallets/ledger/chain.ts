import type { CreatedData, WalletEvent } from '../events.ts';
import { type Wallet, wallet as walletAggregate } from '../wallet.ts';

/** A part of a decision: the events that it adds to those so far, given the wallet after them. */
export type Step = (wallet: Wallet, events: readonly WalletEvent[]) => readonly WalletEvent[];

/** Runs steps one after the other, each on the wallet after the events before it. */
export function chain(
  start: Wallet,
  steps: readonly Step[],
  before: readonly WalletEvent[] = [],
): readonly WalletEvent[] {
  const events = [...before];
  let current = start;
  for (const step of steps) {
    for (const event of step(current, events)) {
      events.push(event);
      current = foldInto(current, event);
    }
  }
  return events;
}

/** Folds an event that has no stamp yet; the stamps of the record do not matter to decisions. */
export function foldInto(wallet: Wallet, event: WalletEvent): Wallet {
  const stamp = {
    tenant_id: wallet.tenant_id,
    environment_id: wallet.environment_id,
    occurred_at: wallet.updated_at,
    actor: { user_id: null, key_id: null },
  };
  return walletAggregate.evolve(wallet, { ...event, stamp } as never) ?? wallet;
}

/** A wallet right after WalletCreated, for the steps that follow in the same decision. */
export const blankWallet = (data: CreatedData): Wallet =>
  walletAggregate.evolve(null, {
    type: 'WalletCreated',
    data,
    stamp: { actor: { user_id: null, key_id: null } },
  } as never) as Wallet;
