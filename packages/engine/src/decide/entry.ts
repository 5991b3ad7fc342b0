import type { ReservationLease } from '../constraints/lease.ts';
import type { Command, WriterOutcome } from './command.ts';

/** A command in the mailbox of its stream. */
export interface Entry<State> {
  readonly command: Command<State>;
  readonly resolve: (outcome: WriterOutcome<State>) => void;
  readonly reject: (reason: unknown) => void;
  /** Ids of the last event of each attempt whose outcome is not known. */
  readonly attempts: Set<string>;
  isSettled: boolean;
  ticket: ReservationLease | null;
  /** The number of times that it has gone to claim what it needs. */
  claimings: number;
}
