import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '../caller.ts';
import { type Acknowledged, insist, type Movement } from './movements.ts';

/** Clients that move credits at the same time, a given number of times in all. */
export interface Load {
  /** Resolves when half of the movements have been begun, so that some are under way. */
  readonly half: Promise<void>;
  /** All of them, each with its final answer. Rejects when one was refused or never answered. */
  readonly done: Promise<readonly Acknowledged[]>;
}

export interface LoadOptions {
  readonly caller: Caller;
  /** Makes the idempotency keys of this load its own. */
  readonly name: string;
  readonly walletIds: readonly string[];
  /** Clients that work on the same wallet at the same time. */
  readonly clientsPerWallet: number;
  /** The number of movements, of all clients together. */
  readonly movements: number;
}

/** Between two requests of a client, so that the load leaves room on a small machine. */
const restMilliseconds = 30;

/** Starts clients, each of which sends the next request when it has the final answer to the last. */
export function startLoad(options: LoadOptions): Load {
  const { caller, name, walletIds, clientsPerWallet, movements } = options;
  const acknowledged: Acknowledged[] = [];
  let begun = 0;
  let tellHalf: () => void = () => undefined;
  const half = new Promise<void>((resolve) => {
    tellHalf = resolve;
  });

  const next = (walletId: string): Movement => {
    begun += 1;
    if (begun * 2 >= movements) tellHalf();
    const kind = begun % 3 === 0 ? 'top-up' : 'debit';
    return { walletId, kind, credits: String(1 + (begun % 7)), key: `${name}-${begun}` };
  };
  const work = async (walletId: string): Promise<void> => {
    while (begun < movements) {
      acknowledged.push(await insist(caller, next(walletId)));
      await pause(restMilliseconds);
    }
  };
  const clients = walletIds.flatMap((id) => Array.from({ length: clientsPerWallet }, () => id));
  const done = Promise.all(clients.map(work)).then(() => acknowledged);
  // A test that fails before it asks for the outcome must not end the process by it.
  done.catch(() => undefined);
  return { half, done };
}
