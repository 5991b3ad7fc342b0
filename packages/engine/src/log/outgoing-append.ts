import { ChainedEvent, type EventTexts } from './hash-chain.ts';
import { isPlainObject, safeJson } from './json-safety.ts';
import { parseStreamName } from './stream-name.ts';
import { AppendError, type EventMetadata, type NewEvent } from './types.ts';

/**
 * The most bytes of data, metadata and type names in one append: what servers take by default, counted
 * as version 24.10 and later count.
 */
export const appendBytesMaximum = 1024 * 1024;

/** An event of which the store has to know no more than that it is part of a hash chain. */
export type AppendableEvent = Omit<NewEvent, 'metadata'> & {
  readonly metadata: Pick<EventMetadata, 'hash'>;
};

/** An event as it is sent: data and metadata are the texts that the log keeps. */
export interface OutgoingEvent extends EventTexts {
  readonly id: string;
  readonly type: string;
}

/** An append that has passed every check that can be made before sending. */
export interface OutgoingAppend {
  readonly stream: string;
  readonly events: readonly OutgoingEvent[];
  /** -1: the stream must not exist. */
  readonly expectedRevision: number;
  /** Size as the server counts it, in bytes. */
  readonly bytes: number;
}

/**
 * Checks an append of any size. Throws `AppendError`: `fatal` for an event that no store could
 * keep or no reader of ours could read back.
 */
export function outgoingAppend(
  stream: string,
  events: readonly AppendableEvent[],
  expectedRevision: number,
): OutgoingAppend {
  if (!parseStreamName(stream)) throw fatal(`${stream} is no stream name`);
  if (!Number.isSafeInteger(expectedRevision) || expectedRevision < -1) {
    throw fatal(`${stream}: ${expectedRevision} is no revision`);
  }
  if (events.length === 0) throw fatal(`${stream}: an append needs at least one event`);
  let bytes = 0;
  const outgoing = events.map((event) => {
    const checked = outgoingEvent(stream, event);
    bytes += checked.bytes;
    return checked.event;
  });
  return { stream, events: outgoing, expectedRevision, bytes };
}

const fatal = (message: string, options?: ErrorOptions): AppendError =>
  new AppendError('fatal', message, options);

const uuidShape = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const nilUuid = '00000000-0000-0000-0000-000000000000';

function outgoingEvent(
  stream: string,
  event: AppendableEvent,
): { readonly event: OutgoingEvent; readonly bytes: number } {
  const { id, type } = event;
  if (!uuidShape.test(id) || id === nilUuid) throw fatal(`${stream}: ${id} is no event id`);
  // The store keeps names that start with a dollar sign for itself.
  if (type === '' || type.startsWith('$')) throw fatal(`${stream}: "${type}" is no event type`);
  if (typeof event.metadata.hash !== 'string') {
    throw fatal(`${stream}: ${type} ${id} is not part of a hash chain`);
  }
  const { data, metadata } = ChainedEvent.textsOf(event) ?? textsOf(stream, event);
  const bytes = Buffer.byteLength(data) + Buffer.byteLength(metadata) + 2 * type.length;
  return { event: { id, type, data, metadata }, bytes };
}

/** The texts of an event that does not have them from its hash, as one that names the place of its contents. */
const textsOf = (stream: string, event: AppendableEvent): EventTexts => ({
  data: jsonText(stream, event, 'data'),
  metadata: jsonText(stream, event, 'metadata'),
});

function jsonText(stream: string, event: AppendableEvent, part: 'data' | 'metadata'): string {
  const place = `${stream}: ${part} of ${event.type} ${event.id}`;
  if (!isPlainObject(event[part])) throw fatal(`${place} is no JSON object`);
  try {
    return safeJson(event[part], part);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw fatal(`${place} cannot be stored: ${reason}`, { cause: error });
  }
}
