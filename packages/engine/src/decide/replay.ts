import { type Instant, millisecondsOf } from '@counterfoil/kernel';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import type { RequestFingerprint, StoredEvent } from '../log/types.ts';
import type { CachedStream } from '../stream-cache/cached-stream.ts';
import { advanceProven, type StreamPlace, type StreamState } from '../stream-cache/stream-state.ts';
import { refusalOf } from './batch.ts';
import type { CommandOutcome } from './command.ts';
import { readFailure } from './problems.ts';
import { assertSameRequest } from './request-fingerprint.ts';

/**
 * The first outcome of a request that the stream has seen, marked as replayed: from memory, else folded
 * again from the log, as the state right after its last event. Null for a request that it has not seen.
 * Throws `idempotency_conflict` when the body was another one, and 503 when the log cannot be read.
 */
export async function replay<State>(
  cached: CachedStream<State>,
  fingerprint: RequestFingerprint,
): Promise<CommandOutcome<State> | null> {
  const { place, requests, outcomes } = cached;
  const span = requests.get(fingerprint.key);
  if (!span) return null;
  const known = outcomes.of(fingerprint.key);
  if (known) {
    assertSameRequest(known.fingerprint, fingerprint);
    return { ...known.recall(), replayed: true };
  }
  try {
    let stream = await cached.at(span.first - 1);
    const events: StoredEvent[] = [];
    for await (const event of cached.events(span.first, span.last)) {
      stream = advanceProven(place.aggregate, stream, event);
      if (event.metadata.request) assertSameRequest(event.metadata.request, fingerprint);
      events.push(event);
    }
    const outcome = outcomeOf(place, events, stream);
    outcomes.remember(fingerprint, 'own', () => outcome);
    return { ...outcome, replayed: true };
  } catch (error) {
    throw readFailure(error);
  }
}

/**
 * Remembers the outcome of a request that was carried out by another process, from its event as that is folded here. After
 * a fault, clients repeat at one process what another one did a moment ago, many at once; each would be folded again.
 * One with several events is left to `replay`.
 */
export function rememberTold<State>(
  { place, outcomes }: CachedStream<State>,
  event: StoredEvent,
  after: StreamState<State>,
): void {
  const { request } = event.metadata;
  if (request?.events !== 1) return;
  outcomes.remember(request, 'told', () => outcomeOf(place, [event], after));
}

/** The time for which clients repeat a request after a fault, as a rule; what is older is not worth the memory. */
const repeatedMilliseconds = 60_000;

/** The same for an event that had to be read, if it is not an old one. */
export function rememberRead<State>(
  stream: CachedStream<State>,
  event: StoredEvent,
  after: StreamState<State>,
  now: Instant,
): void {
  const age = millisecondsOf(now) - millisecondsOf(event.metadata.occurred_at);
  if (age <= repeatedMilliseconds) rememberTold(stream, event, after);
}

/** The outcome of a request that led to some events, from the stream right after the last of them. */
function outcomeOf<State>(
  { aggregate }: StreamPlace,
  stored: readonly StoredEvent[],
  { state, recordRevision: revision, position }: StreamState<State>,
): CommandOutcome<State> {
  const own = stored.filter((event) => belongsTo(aggregate, event));
  const events = own.map((event) => stampedEvent(aggregate, event));
  const refusals = stored.flatMap((event) => refusalOf(event) ?? []);
  const writtenBy = stored[0]?.metadata.$correlationId ?? null;
  const refusal = refusals[0] ?? null;
  return { state, events, revision, position, replayed: false, refusal, writtenBy };
}
