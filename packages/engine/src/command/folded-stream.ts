import type { AnyAggregate, Instant } from '@counterfoil/kernel';
import { BrokenInvariant } from '@counterfoil/kernel';
import { evolveStored } from '../log/decode.ts';
import { type ChainHead, chainAfter, emptyChain } from '../log/hash-chain.ts';
import type { Position, StoredEvent } from '../log/types.ts';

/** Type of the event by which the engine takes a tentative claim away; see claims.ts. */
export const claimRevoked = 'ClaimRevoked';

/**
 * Type of the event that records a refusal under the idempotency key of its request, so that the
 * request gets the same answer for ever. The business never sees it.
 */
export const requestRefused = 'RequestRefused';

/** Whether an event is one that the engine writes for itself into the streams of records. */
export const isEngineEvent = ({ type }: { readonly type: string }): boolean =>
  type === claimRevoked || type === requestRefused;

/** A stream folded up to its last known event. Immutable, so a batch can be decided on a copy. */
export interface FoldedStream<State> {
  readonly state: State;
  readonly head: ChainHead;
  /** When the last event happened; null for a stream without events. */
  readonly occurredAt: Instant | null;
  /** Position of the last event, or a later one that is known to be past it. */
  readonly position: Position;
  /** Claims that another writer has revoked in this stream. */
  readonly revokedClaims: ReadonlySet<string>;
}

/** A stream before its first event. */
export const emptyStream = <State>(initial: State): FoldedStream<State> => ({
  state: initial,
  head: emptyChain,
  occurredAt: null,
  position: 0n,
  revokedClaims: new Set(),
});

/** The stream after one more event of the log. Throws when the event is not the next one. */
export function advance<State>(
  aggregate: AnyAggregate,
  stream: FoldedStream<State>,
  event: StoredEvent,
): FoldedStream<State> {
  if (event.revision !== stream.head.revision + 1) {
    throw new BrokenInvariant(
      `${event.stream}: read revision ${event.revision} after ${stream.head.revision}`,
    );
  }
  return {
    state: evolveStored(aggregate, stream.state, event),
    head: chainAfter(event),
    occurredAt: event.metadata.occurred_at,
    position: event.position,
    revokedClaims: revokedAfter(stream.revokedClaims, event),
  };
}

export function revokedAfter(
  revoked: ReadonlySet<string>,
  event: { readonly type: string; readonly data: unknown },
): ReadonlySet<string> {
  if (event.type !== claimRevoked) return revoked;
  return new Set([...revoked, (event.data as { readonly claim_id: string }).claim_id]);
}
