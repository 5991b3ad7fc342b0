import type { AskingContext } from '@counterfoil/engine/define';
import type { Instant } from '@counterfoil/kernel';
import type { StretchesQuestion } from '../analytics/usage-in-stretches.ts';
import { keyOf, placeOf } from '../list-place.ts';
import { type CountingMeter, lookOf } from '../trace/trace.ts';
import type { EventAsOf } from './events-as-of.ts';
import type { UsageAsOf } from './usage-as-of.ts';

/** Usage whose events are listed: what a meter counts in stretches of time. */
export interface CountedUsage extends Pick<StretchesQuestion, 'eventName' | 'stretches'> {
  /** The meter that counts. */
  readonly meter: CountingMeter;
}

/** A usage event that was counted, and what of it. */
export interface CountedUsageEvent {
  readonly event_id: string;
  readonly timestamp: Instant;
  readonly source: string;
  /** Its place in the log. */
  readonly position: string;
  /** The value that the aggregation takes of it; null where only the event itself counts. */
  readonly value: string | null;
}

/** A page of events that were counted. */
export interface CountedPage {
  readonly events: readonly CountedUsageEvent[];
  readonly has_more: boolean;
  /** The place behind which the next page begins; null where nothing follows. */
  readonly iter_last_key: string | null;
}

/** The way in which usage is told event by event. */
export type EventsOf = Pick<UsageAsOf, 'events'>;

/** Events that one page looks at: most of them may be none that the meter can count. */
const lookedAtMaximum = 20_000;

/** A page of the events that a figure was counted from, in the order of time: whoever counts them again comes to it. */
export async function countedEvents(
  context: AskingContext,
  usage: EventsOf,
  counted: CountedUsage,
  page: { readonly limit: number; readonly iter_last_key?: string | undefined },
): Promise<CountedPage> {
  const after = page.iter_last_key === undefined ? null : placeOf(page.iter_last_key);
  const events: CountedUsageEvent[] = [];
  let lookedAt = 0;
  let last: EventAsOf | null = null;
  const asked = { ...counted, filters: counted.meter.filters };
  for await (const event of usage.events(context, asked, after)) {
    if (last !== null && (events.length === page.limit || lookedAt === lookedAtMaximum)) {
      return { events, has_more: true, iter_last_key: keyOf(last) };
    }
    last = event;
    lookedAt += 1;
    const look = lookOf(counted.meter, event.properties);
    if (!look.counted) continue;
    events.push({
      event_id: event.event_id,
      timestamp: event.at,
      source: event.source ?? '',
      position: String(event.position),
      value: look.value,
    });
  }
  return { events, has_more: false, iter_last_key: null };
}
