import type { AnyAggregate, Instant, UniqueValue } from '@counterfoil/kernel';
import type { Command, StreamPlace } from '../decide/command.ts';
import type { ReferenceChange } from './reference-change.ts';
import type { UniqueChange } from './unique-change.ts';

/**
 * The claims that a process can make for a command: to unique values, and to the records it refers
 * to.
 */
export interface Claims {
  /** Throws `already_exists` when another record holds one of the values; see `ReferenceClaims` too. */
  acquire(
    owner: StreamPlace,
    change: ClaimedChange,
    command: Command<never>,
  ): Promise<ReservationLease>;
  /** The id of the record that holds a value; null when none does. */
  holderOf(
    aggregate: AnyAggregate,
    scope: string,
    value: Pick<UniqueValue, 'name' | 'value'>,
  ): Promise<string | null>;
}

/** The part of a decision that has to be claimed before it is written. */
export interface ClaimedChange extends UniqueChange, ReferenceChange {
  /** On which revision of the owner's stream it was decided, and when. */
  readonly revision: number;
  readonly at: Instant;
}

/** Claims that a command holds until it has come to its end. */
export interface ReservationLease extends UniqueChange, ReferenceChange {
  readonly claimIds: readonly string[];
  /** Revision of the owner's stream on which the change was decided. */
  readonly decidedAt: number;
  /**
   * `committed` gives dropped values free, `failed` gives claimed ones back, `unknown` leaves
   * all as it is. Settling twice does nothing. Never rejects.
   */
  settle(outcome: 'committed' | 'failed' | 'unknown'): Promise<void>;
}
