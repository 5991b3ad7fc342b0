import { setTimeout as pause } from 'node:timers/promises';
import type { Caller } from '../caller.ts';
import { type Acknowledged, insist, type Movement } from './movements.ts';

/** Clients that move credits until they are told to stop. */
export interface Load {
  /** Requests that wait for their final answer now. */
  underWay(): number;
  /** Begins nothing new, and gives all that was acknowledged. Throws when a request was refused. */
  stop(): Promise<readonly Acknowledged[]>;
}

export interface LoadOptions {
  readonly caller: Caller;
  readonly walletIds: readonly string[];
  /** Clients that work on the same wallet at the same time. */
  readonly clientsPerWallet: number;
  /** Movements in all at most. */
  readonly maximum: number;
}

/** Between two requests of a client, so that the load leaves room on a small machine. */
const restMilliseconds = 60;

/** Starts clients, each of which sends the next request when it has the final answer to the last. */
export function startLoad({ caller, walletIds, clientsPerWallet, maximum }: LoadOptions): Load {
  const acknowledged: Acknowledged[] = [];
  let begun = 0;
  let underWay = 0;
  let isStopping = false;
  let failure: unknown = null;

  const next = (walletId: string): Movement => {
    begun += 1;
    const kind = begun % 3 === 0 ? 'top-up' : 'debit';
    return { walletId, kind, credits: String(1 + (begun % 7)), key: `load-${begun}` };
  };
  const work = async (walletId: string): Promise<void> => {
    while (!isStopping && begun < maximum) {
      underWay += 1;
      try {
        acknowledged.push(await insist(caller, next(walletId)));
      } catch (error) {
        failure ??= error;
        isStopping = true;
      } finally {
        underWay -= 1;
      }
      await pause(restMilliseconds);
    }
  };
  const clients = walletIds.flatMap((id) => Array.from({ length: clientsPerWallet }, () => id));
  const working = Promise.all(clients.map(work));

  return {
    underWay: () => underWay,
    async stop() {
      isStopping = true;
      await working;
      if (failure !== null) throw failure;
      return acknowledged;
    },
  };
}
