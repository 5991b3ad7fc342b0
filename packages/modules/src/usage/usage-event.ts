import { intake } from '@counterfoil/engine/define';
import { canonicalJson, type Instant, sha256 } from '@counterfoil/kernel';
import { z } from 'zod';

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
});
export type UsageEvent = z.output<typeof usageEventData>;

/** The way in for usage. */
export const usageIntake = intake({
  name: 'usage',
  eventType: 'UsageReceived',
  fact: usageEventData,
});

/** The identity of a usage event: hashes of 128 bits, in hexadecimal. */
export interface UsageIdentity {
  /** Of the event id. */
  readonly id: string;
  /** Of everything else but the timestamp. */
  readonly content: string;
}

const digitsOf128Bits = 32;

/** The identity of a usage event (D35, D55). The order of members makes no difference. */
export function identityOf(event: UsageEvent): UsageIdentity {
  const { event_id, timestamp: _, timestamp_assigned: __, ...content } = event;
  return {
    id: sha256(event_id).slice(0, digitsOf128Bits),
    content: sha256(canonicalJson(content)).slice(0, digitsOf128Bits),
  };
}

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
