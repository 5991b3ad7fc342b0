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
  readonly metadata: Pick<EventMetadata, 'prev' | 'hash'>;
};

/** An event as the client takes it; data and metadata are copies that nothing else holds. */
export interface OutgoingEvent {
  readonly id: string;
  readonly type: string;
  readonly contentType: 'application/json';
  readonly data: Record<string, unknown>;
  /** JSON in UTF-8: the client does not turn bytes into base 64 and back. */
  readonly metadata: Uint8Array;
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
 * Checks and copies an append of any size. Throws `AppendError`: `fatal` for an event that no store could
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
  const { prev, hash } = event.metadata;
  if (typeof prev !== 'string' || typeof hash !== 'string') {
    throw fatal(`${stream}: ${type} ${id} is not part of a hash chain`);
  }
  const data = jsonText(stream, event, 'data');
  const metadata = utf8.encode(jsonText(stream, event, 'metadata'));
  return {
    event: { id, type, contentType: 'application/json', data: JSON.parse(data), metadata },
    bytes: Buffer.byteLength(data) + metadata.length + 2 * type.length,
  };
}

const utf8 = new TextEncoder();

/**
 * The client serialises its input later, where nothing can catch an error, so it gets a copy made from
 * the text: proven to be JSON, and safe from later changes of the original.
 */
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
