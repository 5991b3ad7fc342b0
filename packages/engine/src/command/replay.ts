import type { AnyAggregate } from '@counterfoil/kernel';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import type { EventStore, RequestMark } from '../log/types.ts';
import type { WriterOutcome } from './command.ts';
import { advance, emptyStream } from './folded-stream.ts';
import type { RequestSpan } from './request-index.ts';
import { assertSameRequest } from './request-mark.ts';

/**
 * The outcome of a request from long ago, folded again from the log: the state right after its
 * last event, and its events. Throws `idempotency_conflict` when the body was another one.
 */
export async function foldOutcome<State>(
  store: EventStore,
  place: { readonly aggregate: AnyAggregate; readonly name: string },
  span: RequestSpan,
  mark: RequestMark,
): Promise<WriterOutcome<State>> {
  let stream = emptyStream<State>(place.aggregate.initial);
  const events: WriterOutcome<State>['events'][number][] = [];
  for await (const event of store.readStream(place.name, { from: 0, maximum: span.last + 1 })) {
    stream = advance(place.aggregate, stream, event);
    if (event.revision < span.first) continue;
    if (event.metadata.request) assertSameRequest(event.metadata.request, mark);
    if (belongsTo(place.aggregate, event)) events.push(stampedEvent(place.aggregate, event));
  }
  return {
    state: stream.state,
    events,
    revision: stream.head.revision,
    position: stream.position,
    replayed: false,
  };
}
