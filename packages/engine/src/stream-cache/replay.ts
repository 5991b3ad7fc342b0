import type { StreamPlace, WriterOutcome } from '../decide/command.ts';
import { refusalOf } from '../decide/refusal.ts';
import { assertSameRequest } from '../decide/request-fingerprint.ts';
import type { WriterEnvironment } from '../decide/writer-environment.ts';
import { readFailure } from '../decide/writer-problems.ts';
import { belongsTo, stampedEvent } from '../log/decode.ts';
import type { RequestFingerprint } from '../log/types.ts';
import type { IdempotencyIndex, RequestSpan } from './idempotency-index.ts';
import { advance, emptyStream, type StreamState } from './stream-state.ts';

/** The parts by which old outcomes are folded. */
export type RecallTools = Pick<WriterEnvironment, 'store' | 'waypoints' | 'longFolds'>;

/** Folds of more events than these take so long that only a few may be under way at once. */
const shortFoldEvents = 4_096;

/**
 * Returns where the fold of an outcome can begin: the last state that is known from before its
 * first event.
 */
const beginningOf = <State>(
  { waypoints }: RecallTools,
  { aggregate, name }: Pick<StreamPlace, 'aggregate' | 'name'>,
  { first }: RequestSpan,
): StreamState<State> =>
  waypoints.lastBefore<State>(name, first) ?? emptyStream<State>(aggregate.initial);

/**
 * The outcome of a request from long ago, folded again from the log: the state right after its
 * last event, and its events. Throws `idempotency_conflict` when the body was another one.
 */
async function foldOutcome<State>(
  tools: RecallTools,
  place: Pick<StreamPlace, 'aggregate' | 'name'>,
  span: RequestSpan,
  mark: RequestFingerprint,
): Promise<WriterOutcome<State>> {
  let stream = beginningOf<State>(tools, place, span);
  const from = stream.head.revision + 1;
  const events: WriterOutcome<State>['events'][number][] = [];
  let refusal: WriterOutcome<State>['refusal'] = null;
  const read = { from, maximum: span.last + 1 - from };
  for await (const event of tools.store.readStream(place.name, read)) {
    const before = stream;
    stream = advance(place.aggregate, stream, event);
    tools.waypoints.note(place.name, before, stream);
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
 * cannot be read or too many ask for what takes long to fold.
 */
export async function recall<State>(
  tools: RecallTools,
  place: StreamPlace,
  requests: IdempotencyIndex<State>,
  mark: RequestFingerprint,
): Promise<WriterOutcome<State>> {
  const fold = async (): Promise<WriterOutcome<State>> => {
    const known = requests.remembered(mark.key);
    if (known) {
      assertSameRequest(known.mark, mark);
      return { ...known.outcome, replayed: true };
    }
    const span = requests.spanOf(mark.key);
    const outcome = await foldOutcome<State>(tools, place, span, mark);
    requests.remember(mark, outcome);
    return { ...outcome, replayed: true };
  };
  try {
    if (requests.remembered(mark.key)) return await fold();
    const span = requests.spanOf(mark.key);
    const { head } = beginningOf(tools, place, span);
    const isLong = span.last - head.revision > shortFoldEvents;
    return await (isLong ? tools.longFolds.run(fold) : fold());
  } catch (error) {
    throw readFailure(error);
  }
}
