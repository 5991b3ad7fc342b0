import type { CreatedData, WalletEvent } from '../events.ts';
import { type Wallet, wallet as walletAggregate } from '../wallet.ts';

/** A part of a decision: what it adds to the events so far, given the wallet as they left it. */
export type Step = (wallet: Wallet, events: readonly WalletEvent[]) => readonly WalletEvent[];

/** Runs steps one after the other, each on the wallet as the events before it left it. */
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

/** A wallet as WalletCreated leaves it, for the steps that follow in the same decision. */
export const blankWallet = (data: CreatedData): Wallet =>
  walletAggregate.evolve(null, {
    type: 'WalletCreated',
    data,
    stamp: { actor: { user_id: null, key_id: null } },
  } as never) as Wallet;
