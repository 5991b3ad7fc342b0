import { intake } from '@counterfoil/engine/define';
import { canonicalJson, type Instant, sha256 } from '@counterfoil/kernel';
import { z } from 'zod';
import { isBulk } from './bulk-message.ts';

const text = <Kind extends string>() => z.string().transform((value) => value as Kind);

/** A usage event as the log keeps it. */
export const usageEventData = z.object({
  event_id: z.string(),
  event_name: z.string(),
  external_customer_id: z.string(),
  /** Our id of the customer, where the sender gave it. */
  customer_id: z.string().optional(),
  source: z.string().optional(),
  timestamp: text<Instant>(),
  /** True when the sender gave no timestamp: that of its arrival stands in its place. */
  timestamp_assigned: z.boolean().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  /** The backfill in which it waits to be counted. */
  backfill_id: z.string().optional(),
});
export type UsageEvent = z.output<typeof usageEventData>;

/** The way in for usage. */
export const usageIntake = intake({
  name: 'usage',
  eventType: 'UsageReceived',
  fact: usageEventData,
  routeOf: (message) => (isBulk(message) ? 'POST /events/bulk' : 'POST /events'),
});

/** The identity of a usage event: hashes of 128 bits, in hexadecimal. */
export interface UsageIdentity {
  /** Of the event id. */
  readonly id: string;
  /** Of everything else but the timestamp. */
  readonly content: string;
}

const digitsOf128Bits = 32;

/** Canonical JSON of a usage event and its parts, each made once: there are thousands of events a second. */
export interface UsageTexts {
  /** Of the properties; null when there are none. */
  readonly properties: string | null;
  /** Of what it says but the timestamp: the same event, sent live and in a backfill, is a repetition. */
  readonly content: string;
  readonly whole: string;
}

/** The canonical JSON (RFC 8785) of a usage event: its members in the order of their names. */
export function textsOf(event: UsageEvent): UsageTexts {
  const { event_id, event_name, external_customer_id, customer_id, source, ...rest } = event;
  const { timestamp, timestamp_assigned, properties: given, backfill_id, ...others } = rest;
  // Whoever adds a member finds its place here.
  others satisfies Record<string, never>;
  const properties = given === undefined ? null : canonicalJson(given);
  const waiting = backfill_id === undefined ? '' : `"backfill_id":${canonicalJson(backfill_id)},`;
  const first = customer_id === undefined ? '' : `"customer_id":${canonicalJson(customer_id)},`;
  const middle =
    `"event_name":${canonicalJson(event_name)},` +
    `"external_customer_id":${canonicalJson(external_customer_id)}` +
    (properties === null ? '' : `,"properties":${properties}`) +
    (source === undefined ? '' : `,"source":${canonicalJson(source)}`);
  const last =
    `,"timestamp":${canonicalJson(timestamp)}` +
    (timestamp_assigned === undefined ? '' : `,"timestamp_assigned":${timestamp_assigned}`);
  return {
    properties,
    content: `{${first}${middle}}`,
    whole: `{${waiting}${first}"event_id":${canonicalJson(event_id)},${middle}${last}}`,
  };
}

/** The hash of an event id, by which its event is found. */
export const hashOfId = (eventId: string): string => sha256(eventId).slice(0, digitsOf128Bits);

/** The identity of a usage event (D35, D55). The order of members makes no difference. */
export const identityOf = (
  { event_id }: Pick<UsageEvent, 'event_id'>,
  { content }: Pick<UsageTexts, 'content'>,
): UsageIdentity => ({
  id: hashOfId(event_id),
  content: sha256(content).slice(0, digitsOf128Bits),
});

/** The first usage event with an id, as far as later ones are held against it. */
export interface KnownUsage {
  readonly content: string;
  readonly timestamp: Instant;
}

/**
 * Tells whether an event under an id that is known repeats the first one, or contradicts it. A repetition without a
 * timestamp repeats (D55).
 */
export const isRepetition = (
  known: KnownUsage,
  { content }: Pick<UsageIdentity, 'content'>,
  { timestamp, timestamp_assigned }: UsageEvent,
): boolean =>
  known.content === content && (timestamp_assigned === true || known.timestamp === timestamp);
