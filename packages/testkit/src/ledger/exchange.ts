import type { AnyCommand, CustomerCommand } from './commands.ts';

/** An answer, as far as it is compared. */
export interface LedgerAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
  /** True when the answer said that it repeats an earlier one. */
  readonly isReplay: boolean;
}

/** A request that a client has sent, with its answer: to a wallet, unless it says otherwise. */
export interface Exchange<Asked extends AnyCommand | CustomerCommand = AnyCommand> {
  readonly requestId: string;
  readonly command: Asked;
  /** The idempotency key; null for none. */
  readonly key: string | null;
  /** Places among all sendings and answers of the clients, which tell the order of two of them. */
  readonly sent: number;
  readonly answered: number;
  /** The clock, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly answeredAt: number;
  /** Null when there was none: the request may or may not have been carried out. */
  readonly answer: LedgerAnswer | null;
}

/** A debit of a customer, with its answer. */
export type CustomerExchange = Exchange<CustomerCommand>;

/** A request of either kind, with its answer. */
export type AnyExchange = Exchange<AnyCommand | CustomerCommand>;
