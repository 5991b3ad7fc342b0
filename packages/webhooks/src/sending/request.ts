import type { Endpoint, Payload } from '../endpoint/endpoint.ts';
import { sealingContext } from '../endpoint/endpoint.ts';
import type { Sealer } from '../endpoint/sealing.ts';
import { signedHeaders } from './signing.ts';

/** The destination of an endpoint's deliveries, and the way to it. */
export interface Destination {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The current secret first. */
  readonly secrets: readonly SigningSecret[];
  readonly payload: Payload;
}

interface SigningSecret {
  readonly text: string;
  /** Milliseconds since 1970 from which on it no longer signs; null: the current one. */
  readonly until: number | null;
}

/**
 * Returns the destination that an endpoint describes, its secrets opened. Throws `SealBroken` when
 * they were sealed under another key.
 */
export function destinationOf(endpoint: Endpoint, sealer: Sealer): Destination {
  const { id, url, payload, headers, secret, former_secrets } = endpoint;
  const open = (sealed: Endpoint['secret'], what: 'secret' | 'headers'): string =>
    sealer.open(sealed, sealingContext(id, what));
  const former = former_secrets.map((one) => ({
    text: open(one.secret, 'secret'),
    until: Date.parse(one.until),
  }));
  return {
    url,
    payload,
    secrets: [{ text: open(secret, 'secret'), until: null }, ...former],
    headers: headers ? (JSON.parse(open(headers.sealed, 'headers')) as Destination['headers']) : {},
  };
}

/** A delivery as far as its request depends on it. */
export interface Deliverable {
  readonly eventId: string;
  readonly resourceId: string;
  readonly sequence: string;
  readonly attempt: number;
  readonly body: Buffer;
}

/** One POST. */
export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const userAgent = 'Counterfoil-Webhooks/1';

/**
 * Returns the request of an attempt at `now`, in milliseconds since 1970: its signature has the time of
 * this attempt, so that receivers do not take a late one for a replay. Throws when the body cannot be
 * made thin.
 */
export function requestOf(
  { eventId, resourceId, sequence, attempt, body: whole }: Deliverable,
  { url, headers, secrets, payload }: Destination,
  now: number,
): OutgoingRequest {
  const body = payload === 'thin' ? thinBody(whole) : whole;
  const signing = secrets.filter(({ until }) => until === null || until > now);
  const message = { id: eventId, timestamp: Math.floor(now / 1000), body };
  return {
    url,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-attempt': String(attempt),
      'webhook-resource': resourceId,
      'webhook-sequence': sequence,
      ...signedHeaders(
        message,
        signing.map(({ text }) => text),
      ),
    },
    body,
  };
}

/**
 * Returns the body for an endpoint that wants ids alone: of every record in it the id is left, and all
 * that is no record, such as the type, stays as it is. The same body gives the same bytes.
 */
export function thinBody(body: Buffer): Buffer {
  const whole = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>;
  const members = Object.entries(whole).map(([name, value]) => [name, thinMember(value)] as const);
  return Buffer.from(JSON.stringify(Object.fromEntries(members)));
}

function thinMember(value: unknown): unknown {
  const isRecord = typeof value === 'object' && value !== null && 'id' in value;
  return isRecord ? { id: value.id } : value;
}
