import type { RequestContext } from '@counterfoil/engine/define';
import { instantOf, invalidField, millisecondsOf, Problem } from '@counterfoil/kernel';
import type { KnownLookups } from './known-lookups.ts';
import { knownUsage } from './queries.ts';
import type { RecentUsage } from './recent-usage.ts';
import type { IngestedEvent } from './schema.ts';
import {
  identityOf,
  isRepetition,
  type KnownUsage,
  textsOf,
  type UsageEvent,
  type UsageIdentity,
  usageIntake,
} from './usage-event.ts';

/** The knowledge of a process about the usage that it has taken in. */
export interface Ingesting {
  readonly recent: RecentUsage;
  readonly lookups: KnownLookups;
}

/** The events of a request, and how many of them are recorded, repeated or in conflict. */
export interface Ingested {
  readonly events: readonly UsageEvent[];
  readonly accepted: number;
  readonly repeated: number;
  readonly conflicts: readonly { readonly index: number; readonly event_id: string }[];
}

/** The time by which an event may lie ahead. */
const aheadMilliseconds = 3_600_000;

/**
 * Records the events of a request that are new, and resolves when they are durable. An id that is known is a
 * repetition or a conflict, and records nothing (D35, D55). Throws 400 for a timestamp too far ahead.
 */
export async function ingest(
  context: RequestContext,
  { recent, lookups }: Ingesting,
  given: readonly IngestedEvent[],
  pointerOf: (index: number) => string,
): Promise<Ingested> {
  const latest = instantOf(millisecondsOf(context.now) + aheadMilliseconds);
  const events = given.map((event, index) => {
    if (event.timestamp === undefined || event.timestamp <= latest) return eventOf(context, event);
    const message = `lies more than an hour ahead: it may be ${latest} at most`;
    throw invalidField(`${pointerOf(index)}/timestamp`, message);
  });
  const identified = events.map(identifiedEvent);
  const ids = identified.map(({ identity }) => identity.id);
  const { environmentId } = context.principal;
  await recent.settled(environmentId, ids);
  const stored = await lookups.find(environmentId, ids, (all) => knownUsage(context, all));
  const sorted = sortOut(identified, (id) => stored.get(id) ?? recent.get(environmentId, id));
  if (sorted.fresh.size > 0) {
    const fresh = new Map([...sorted.fresh].map(([id, { usage }]) => [id, usage]));
    const texts = [...sorted.fresh.values()].map(({ text }) => text);
    await recent.during(environmentId, fresh, context.record(usageIntake, texts));
  }
  const { conflicts } = sorted;
  const accepted = sorted.fresh.size;
  return { events, accepted, repeated: events.length - accepted - conflicts.length, conflicts };
}

interface Identified {
  readonly event: UsageEvent;
  readonly identity: UsageIdentity;
  /** The event in canonical JSON. */
  readonly text: string;
}

/** An event with its identity and its text. */
export function identifiedEvent(event: UsageEvent): Identified {
  const texts = textsOf(event);
  return { event, identity: identityOf(event, texts), text: texts.whole };
}

/** Tells what is new from repetitions and conflicts, within the request too. */
export function sortOut(
  identified: readonly Identified[],
  knownAs: (id: string) => KnownUsage | undefined,
) {
  const fresh = new Map<string, { readonly text: string; readonly usage: KnownUsage }>();
  const conflicts: { index: number; event_id: string }[] = [];
  for (const [index, { event, identity, text }] of identified.entries()) {
    const known = fresh.get(identity.id)?.usage ?? knownAs(identity.id);
    if (!known) {
      const usage = { content: identity.content, timestamp: event.timestamp };
      fresh.set(identity.id, { text, usage });
    } else if (!isRepetition(known, identity, event)) {
      conflicts.push({ index, event_id: event.event_id });
    }
  }
  return { fresh, conflicts };
}

/** The event as the log keeps it. */
function eventOf(context: RequestContext, given: IngestedEvent): UsageEvent {
  const { event_id, timestamp, properties, ...fields } = given;
  const isEmpty = properties === undefined || Object.keys(properties).length === 0;
  return {
    ...fields,
    event_id: event_id ?? context.newId('event'),
    timestamp: timestamp ?? context.now,
    ...(timestamp === undefined ? { timestamp_assigned: true } : {}),
    ...(isEmpty ? {} : { properties }),
  };
}

/** The refusal of a single event whose id another one has. */
export const conflicting = (eventId: string): Problem =>
  new Problem(
    'idempotency_conflict',
    `Another event has the event_id ${JSON.stringify(eventId)}, with other contents. ` +
      'Send this one under an id of its own.',
    { details: { event_id: eventId } },
  );
