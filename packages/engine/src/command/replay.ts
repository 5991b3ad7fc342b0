import { belongsTo, stampedEvent } from '../log/decode.ts';
import type { EventStore, RequestMark } from '../log/types.ts';
import type { WriterOutcome } from './command.ts';
import { advance, emptyStream } from './folded-stream.ts';
import { refusalOf } from './refusal.ts';
import type { RequestIndex, RequestSpan } from './request-index.ts';
import { assertSameRequest } from './request-mark.ts';
import type { StreamPlace } from './writer-environment.ts';
import { readFailure } from './writer-problems.ts';

/**
 * The outcome of a request from long ago, folded again from the log: the state right after its
 * last event, and its events. Throws `idempotency_conflict` when the body was another one.
 */
async function foldOutcome<State>(
  store: EventStore,
  place: Pick<StreamPlace, 'aggregate' | 'name'>,
  span: RequestSpan,
  mark: RequestMark,
): Promise<WriterOutcome<State>> {
  let stream = emptyStream<State>(place.aggregate.initial);
  const events: WriterOutcome<State>['events'][number][] = [];
  let refusal: WriterOutcome<State>['refusal'] = null;
  for await (const event of store.readStream(place.name, { from: 0, maximum: span.last + 1 })) {
    stream = advance(place.aggregate, stream, event);
    if (event.revision < span.first) continue;
    if (event.metadata.request) assertSameRequest(event.metadata.request, mark);
    refusal = refusalOf(event);
    if (belongsTo(place.aggregate, event)) events.push(stampedEvent(place.aggregate, event));
  }
  return {
    state: stream.state,
    events,
    revision: stream.recordRevision,
    position: stream.position,
    replayed: false,
    refusal,
  };
}

/**
 * The first outcome of a request that is in the index, marked as replayed: from memory, else from
 * the log. Throws `idempotency_conflict` when the body was another one, and 503 when the log
 * cannot be read.
 */
export async function recall<State>(
  store: EventStore,
  place: StreamPlace,
  requests: RequestIndex<State>,
  mark: RequestMark,
): Promise<WriterOutcome<State>> {
  const known = requests.remembered(mark.key);
  if (known) {
    assertSameRequest(known.mark, mark);
    return { ...known.outcome, replayed: true };
  }
  const span = requests.spanOf(mark.key);
  try {
    const outcome = await foldOutcome<State>(store, place, span, mark);
    requests.remember(mark, outcome);
    return { ...outcome, replayed: true };
  } catch (error) {
    throw readFailure(error);
  }
}
