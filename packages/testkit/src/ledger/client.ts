import type { WireCommand } from './commands.ts';
import type { LedgerAnswer } from './exchange.ts';
import type { Data, History } from './history.ts';

/** A request as a client sends it. */
export interface LedgerRequest extends WireCommand {
  readonly requestId: string;
  readonly key: string | null;
  /** In memory: when it arrived, if that was before it was decided. Milliseconds since 1970. */
  readonly arrivedAt?: number;
}

/** The resources of a wallet that are read and compared with its ledger. */
export type ReadPath = '' | '/transactions' | '/holds' | '/balance';

/** One service with wallets, however it is reached. */
export interface LedgerClient {
  send(request: LedgerRequest): Promise<LedgerAnswer>;
  /** The clock that decisions are made by, in milliseconds since 1970; where it is on its way, where it began. */
  now(): number;
  /** The latest that the clock may be by now. */
  nowAtMost(): number;
  /** Lets time go by. */
  pass(milliseconds: number): Promise<void>;
  /** Ends what falls due by itself. Does nothing where the service does so without being asked. */
  settle(walletId: string): Promise<void>;
  history(walletId: string): Promise<History>;
  /** The log of a customer's debits in a currency. */
  debits(customerId: string, currency: string): Promise<History>;
  /** The answer to a GET below the wallet, which shows at least what the log holds now. */
  read(walletId: string, path: ReadPath, query?: Readonly<Record<string, string>>): Promise<Data>;
}
