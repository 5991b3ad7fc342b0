import { BrokenInvariant } from '@counterfoil/kernel';
import { messageId } from '../define/message-id.ts';
import type { PublicEvent } from '../define/public-event.ts';
import { publicSubject } from '../define/subject.ts';
import type { Position, StoredEvent } from '../log/types.ts';

/** Names of the headers that readers and the relay itself rely on. */
export const headerNames = {
  id: 'ce-id',
  type: 'ce-type',
  subject: 'ce-subject',
  time: 'ce-time',
  position: 'Billing-Position',
  index: 'Billing-Index',
  count: 'Billing-Count',
  stream: 'Billing-Stream',
  revision: 'Billing-Revision',
  correlation: 'Billing-Correlation',
  causation: 'Billing-Causation',
  /** Only where the body was too long. */
  dataReference: 'ce-dataref',
} as const;

/**
 * The longest body, in bytes. It is fixed and not taken from the server's `max_payload`, because
 * the published messages have to follow from the log alone. Webhooks carry the same bytes.
 */
export const bodyBytesMaximum = 256 * 1024;

/** A public message as it goes to the broker. */
export interface OutgoingMessage {
  /** Position of the event in the log. */
  readonly position: Position;
  /** The place of this message among those of its event, from 0. */
  readonly index: number;
  /** The number of messages that the event has. */
  readonly count: number;
  readonly id: string;
  readonly subject: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** True when the body was too long, so that the message only names the records. */
  readonly truncated: boolean;
}

/**
 * The public messages about one event: CloudEvents in binary mode, the bare JSON as body. Pure: the
 * same event and publications give the same bytes. Throws `BrokenInvariant` on an event that can
 * never be published (bad subject, too many messages) and TypeError on a body that is no JSON.
 */
export const publicMessages = (
  event: StoredEvent,
  publications: readonly PublicEvent[],
): readonly OutgoingMessage[] =>
  publications.map((publication, index) =>
    publicMessage(event, publication, index, publications.length),
  );

/** The nth of an event's `count` messages. See `publicMessages`. */
export function publicMessage(
  event: StoredEvent,
  publication: PublicEvent,
  index: number,
  count: number,
): OutgoingMessage {
  const { tenant_id: tenantId, environment_id: environmentId } = event.metadata;
  const { type, resourceId } = publication;
  const subject = publicSubject({ tenantId, environmentId, type, resourceId });
  const id = messageId(event.position, index);
  const whole = encodeBody(type, publication.body);
  const truncated = whole.length > bodyBytesMaximum;
  const headers = {
    ...messageHeaders(event, publication, id),
    [headerNames.index]: String(index),
    [headerNames.count]: String(count),
    ...(truncated ? { [headerNames.dataReference]: dataReference(id) } : {}),
  };
  const body = truncated ? stubBody(publication) : whole;
  return { position: event.position, index, count, id, subject, headers, body, truncated };
}

/**
 * Returns the address of the whole body of a truncated message, relative to the service's base URL.
 */
const dataReference = (id: string): string => `/v1/webhooks/messages/${id}`;

function messageHeaders(
  { metadata, stream, revision, position }: StoredEvent,
  { type, resourceId }: PublicEvent,
  id: string,
): Record<string, string> {
  const { tenant_id: tenant, environment_id: environment } = metadata;
  return {
    'Nats-Msg-Id': id,
    'ce-specversion': '1.0',
    [headerNames.id]: id,
    [headerNames.type]: type,
    'ce-source': environment
      ? `/tenants/${tenant}/environments/${environment}`
      : `/tenants/${tenant}`,
    [headerNames.subject]: resourceId,
    [headerNames.time]: metadata.occurred_at,
    'ce-dataschema': `/v1/event-types/${type}/schema`,
    'ce-datacontenttype': 'application/json',
    'ce-sequence': String(position),
    [headerNames.position]: String(position),
    [headerNames.stream]: encodeHeader(stream),
    [headerNames.revision]: String(revision),
    [headerNames.correlation]: encodeHeader(metadata.$correlationId),
    [headerNames.causation]: encodeHeader(metadata.$causationId),
  };
}

function encodeBody(type: string, body: PublicEvent['body']): Uint8Array {
  if (Object.hasOwn(body, 'event_type')) {
    throw new BrokenInvariant(`the body of ${type} has an event_type of its own`);
  }
  return Buffer.from(JSON.stringify({ event_type: type, ...body }));
}

/**
 * Returns the stand-in for a body that is too long: the records it is about, by their ids alone.
 */
function stubBody({ type, body }: PublicEvent): Uint8Array {
  const named = Object.entries(body).flatMap(([key, value]) => {
    const id = idOf(value);
    return id === null ? [] : [[key, { id }] as const];
  });
  const stub = encodeBody(type, { ...Object.fromEntries(named), truncated: true });
  if (stub.length > bodyBytesMaximum) {
    throw new BrokenInvariant(`even the truncated body of ${type} is too long`);
  }
  return stub;
}

const idOf = (value: unknown): string | null =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
    ? value.id
    : null;

/** Printable ASCII but space, double quote and per cent, which CloudEvents leaves as it is. */
const plain = /^[\x21\x23\x24\x26-\x7e]*$/;
const special = /[^\x21\x23\x24\x26-\x7e]/gu;

/**
 * A text as the value of a message header: other characters than plain ASCII are percent-encoded as
 * UTF-8 (CloudEvents, NATS binding). A correlation id may be the caller's own text, and must not be
 * able to start a header of its own.
 */
export const encodeHeader = (text: string): string =>
  plain.test(text) ? text : text.toWellFormed().replace(special, encodeURIComponent);

/** The text that `encodeHeader` was given; the value itself when it is no such encoding. */
export function decodeHeader(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
