import { type AnyAggregate, BrokenInvariant, type Instant } from '@counterfoil/kernel';
import { uniqueChange } from '../constraints/changes.ts';
import { belongsTo, evolveStored } from '../log/decode.ts';
import { type ChainHead, chainAfter, chainFault, emptyChain } from '../log/hash-chain.ts';
import { streamName } from '../log/stream-name.ts';
import type { Position, StoredEvent } from '../log/types.ts';

/** Type of the event by which the engine takes a tentative claim away; see claims.ts. */
export const claimRevoked = 'ClaimRevoked';

/**
 * Type of the event that records a refusal under the idempotency key of its request, so that the
 * request gets the same answer for ever. The business never sees it.
 */
export const requestRefused = 'RequestRefused';

/**
 * Type of the event that records, under the idempotency key of its request, that nothing had to be
 * done: a repetition then gets the same answer and does nothing, whatever the record has become.
 */
export const requestWithoutEffect = 'RequestWithoutEffect';

/**
 * Type of the event by which another record says, in the stream of this one, that it is about to refer to
 * it; see reference-claims.ts.
 */
export const referenceClaimed = 'ReferenceClaimed';

const engineTypes: readonly string[] = [
  claimRevoked,
  requestRefused,
  requestWithoutEffect,
  referenceClaimed,
];

/** Tells whether an event is one that the engine writes for itself into the streams of records. */
export const isEngineEvent = ({ type }: { readonly type: string }): boolean =>
  engineTypes.includes(type);

/** A stream and the aggregate whose events it holds. */
export interface StreamPlace {
  readonly aggregate: AnyAggregate;
  readonly name: string;
  readonly scope: string;
  readonly id: string;
}

/** Returns the place of a record's stream. */
export const placeOf = (aggregate: AnyAggregate, scope: string, id: string): StreamPlace => ({
  aggregate,
  name: streamName({ category: aggregate.name, scope, id }),
  scope,
  id,
});

/** A stream folded up to its last known event. Immutable, so a batch can be decided on a copy. */
export interface StreamState<State> {
  readonly state: State;
  readonly head: ChainHead;
  /**
   * Revision of the last event of the record itself: what an ETag names. Events of the engine, such
   * as a remembered refusal, move the head but leave the record as it was. -1 before the first.
   */
  readonly recordRevision: number;
  /** Revision of the last event by which the record gave up a unique value; -1 for none. */
  readonly droppedAt: number;
  /** The time of the last event; null for a stream without events. */
  readonly occurredAt: Instant | null;
  /** Position of the last event, or a later one that is known to be past it. */
  readonly position: Position;
  /** Claims that another writer has revoked in this stream. */
  readonly revokedClaims: ReadonlySet<string>;
}

/** A stream before its first event. */
export const emptyStream = <State>(initial: State): StreamState<State> => ({
  state: initial,
  head: emptyChain,
  recordRevision: -1,
  droppedAt: -1,
  occurredAt: null,
  position: 0n,
  revokedClaims: new Set(),
});

/** The stream after one more event. Throws `BrokenInvariant` when the event is not the next one. */
export function advance<State>(
  aggregate: AnyAggregate,
  stream: StreamState<State>,
  event: StoredEvent,
): StreamState<State> {
  if (event.revision !== stream.head.revision + 1) {
    throw new BrokenInvariant(
      `${event.stream}: revision ${event.revision} comes after ${stream.head.revision}`,
    );
  }
  const state = evolveStored(aggregate, stream.state, event);
  const dropsValue = uniqueChange(aggregate, stream.state, state).dropped.length > 0;
  return {
    state,
    head: chainAfter(event),
    recordRevision: belongsTo(aggregate, event) ? event.revision : stream.recordRevision,
    droppedAt: dropsValue ? event.revision : stream.droppedAt,
    occurredAt: event.metadata.occurred_at,
    position: event.position,
    revokedClaims: revokedAfter(stream.revokedClaims, event),
  };
}

/**
 * The stream after one more event that was read from the log. Throws `BrokenInvariant`, which names the
 * event, when it is not the one that was written there: nothing may be decided on it.
 */
export function advanceProven<State>(
  aggregate: AnyAggregate,
  stream: StreamState<State>,
  event: StoredEvent,
): StreamState<State> {
  const fault = chainFault(stream.head, event);
  if (fault) throw new BrokenInvariant(`${event.stream}@${event.revision}: ${fault}`);
  return advance(aggregate, stream, event);
}

function revokedAfter(revoked: ReadonlySet<string>, event: StoredEvent): ReadonlySet<string> {
  if (event.type !== claimRevoked) return revoked;
  return new Set([...revoked, (event.data as { readonly claim_id: string }).claim_id]);
}
