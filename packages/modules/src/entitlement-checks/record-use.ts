import type { Outcome, RequestContext } from '@counterfoil/engine/define';
import {
  type DecimalText,
  type Instant,
  instantOf,
  invariant,
  laterOf,
  millisecondsOf,
  Problem,
  textOf,
} from '@counterfoil/kernel';
import type { GrantsOf } from '../entitlements/index.ts';
import type { AggregationType } from '../meters/index.ts';
import {
  conflicting,
  type Ingesting,
  identifiedEvent,
  ingest,
  isRepetition,
  type KnownByEvent,
  knownByEvent,
  LimitReached,
  type PlainUsage,
  PlainUsageUnclear,
  type ReservedUsage,
  reserveUsage,
  type SharedReadings,
  type UsageReservationEvent,
  usageReservation,
  usageShown,
} from '../usage/index.ts';
import { plainAnswer, reservedAnswer } from './answer.ts';
import { type AskedFeature, askedFeature } from './asked-feature.ts';
import { checkFeature, type GrantedUse, grantedUse, oneText } from './check.ts';
import { plainUse, reservationOf } from './plain-use.ts';
import type { CheckEntitlement, EntitlementCheck } from './schema.ts';
import { notRecordable, type UsageToRecord, usageToRecord } from './usage-to-record.ts';

/** The means by which use is recorded in a process. */
export interface Recording {
  readonly grantsOf: GrantsOf;
  readonly ingesting: Ingesting;
  /** Plain usage, which requests for one limit read together. */
  readonly readings: SharedReadings<PlainUsage>;
}

/**
 * Checks the use of a feature and records it, if it is allowed (ADR 42). Within a hard limit it is let through by a
 * reservation, so that callers who ask at once never pass the limit together. A repetition with the `event_id` gets the first
 * answer. 409 where another event has the id.
 */
export async function recordUse(
  context: RequestContext,
  recording: Recording,
  question: CheckEntitlement,
): Promise<EntitlementCheck> {
  if (!context.principal.allows('event:write')) {
    throw new Problem('permission_denied', 'To record usage needs the permission event:write.');
  }
  const known = question.event_id === undefined ? null : await firstOf(context, question.event_id);
  if (known?.kind === 'answered') return known.answer;
  const asked = await askedFeature(context, recording.grantsOf, question);
  if (typeof asked.granted === 'string') return plainAnswer(false, asked.granted);
  const granted = grantedUse(asked, context.now);
  if (!granted) throw notRecordable('it is not metered');
  const { quantity = oneText } = question;
  const toRecord = usageToRecord(granted.customer, granted.counted, {
    eventId: question.event_id ?? context.newId('event'),
    quantity,
    now: laterOf(context.now, sharesSince(granted)),
  });
  const { usage_limit, is_soft_limit } = granted.granted;
  if (usage_limit === null || is_soft_limit) {
    return recordFreely(context, recording, granted, toRecord, quantity);
  }
  if (known) return assertSame(known.event, toRecord, await checkFeature(context, asked, question));
  const limited = { asked, granted, toRecord, limit: String(usage_limit) as DecimalText };
  return (await lastPeriodsAnswer(context, limited)) ?? reserve(context, recording, limited);
}

type Known =
  | { readonly kind: 'answered'; readonly answer: EntitlementCheck }
  | { readonly kind: 'plain'; readonly event: KnownByEvent };

/** The first answer to a request with an event id, or the usage that came under it in another way; null for none. */
async function firstOf(context: RequestContext, eventId: string): Promise<Known | null> {
  await usageShown(context);
  const event = await knownByEvent(context, eventId);
  if (event === null) return null;
  if (event.reservation === null) return { kind: 'plain', event };
  const answer = await answerIn(context, event.reservation);
  if (answer === null) throw conflicting(eventId);
  return { kind: 'answered', answer };
}

/** The use is recorded already, as plain usage. */
function assertSame(
  known: KnownByEvent,
  { event }: UsageToRecord,
  answer: EntitlementCheck,
): EntitlementCheck {
  if (!isRepetition(known, identifiedEvent(event).identity, event)) {
    throw conflicting(event.event_id);
  }
  return { ...answer, allowed: true, reason: 'within_limit', event_id: event.event_id };
}

/** Records use that no limit holds up, in the way of all usage. */
async function recordFreely(
  context: RequestContext,
  { ingesting }: Recording,
  granted: GrantedUse,
  { event }: UsageToRecord,
  quantity: DecimalText,
): Promise<EntitlementCheck> {
  const answer = await checkFeature(context, granted, { quantity });
  const { event_id, event_name, external_customer_id, properties } = event;
  const none = { customer_id: undefined, timestamp: undefined, source: undefined };
  const sent = { event_id, event_name, external_customer_id, properties, ...none };
  const { conflicts } = await ingest(context, ingesting, [sent], () => '');
  if (conflicts.length > 0) throw conflicting(event.event_id);
  return { ...answer, event_id: event.event_id };
}

interface LimitedUse {
  readonly asked: AskedFeature;
  readonly granted: GrantedUse;
  readonly toRecord: UsageToRecord;
  readonly limit: DecimalText;
}

/** Types of aggregation of which use is used up. */
const reservable: readonly AggregationType[] = ['COUNT', 'SUM', 'SUM_WITH_MULTIPLIER'];

/** Readings of plain usage for one request: each begins when more has been counted. */
const readingsMaximum = 50;

/** Lets a use through within a hard limit, or refuses it. */
async function reserve(
  context: RequestContext,
  { readings }: Recording,
  limited: LimitedUse,
): Promise<EntitlementCheck> {
  const { granted, toRecord, limit } = limited;
  const { customer, feature, counted, period } = granted;
  if (!reservable.includes(counted.aggregation.type)) {
    throw notRecordable(`a hard limit of ${counted.aggregation.type} is not used up`);
  }
  const id = reservationOf(granted);
  const read = () => plainUse(context, granted, id);
  for (let count = 0; count < readingsMaximum; count += 1) {
    try {
      const outcome = await context.execute(usageReservation, id, {
        prepare: async () => {
          await usageShown(context);
          return reserveUsage({
            customer_id: customer.id,
            feature_id: feature.id,
            period_start: period.end === null ? null : period.start,
            period_end: period.end,
            limit,
            quantity: textOf(toRecord.use),
            usage: toRecord.event,
            plain: await readings.read(`${context.principal.environmentId} ${id}`, read),
          });
        },
      });
      return answerOf(outcome);
    } catch (reason) {
      if (reason instanceof PlainUsageUnclear) continue;
      if (!(reason instanceof LimitReached)) throw reason;
      const { used, position } = reason;
      return reservedAnswer('limit_reached', { limit, used, resetsAt: period.end, position });
    }
  }
  throw new Problem(
    'service_unavailable',
    'What was used is just being counted, and the limit is near. Send it again.',
    { retryAfterSeconds: 1 },
  );
}

/**
 * The instant from which the use of a customer counts for a limit that is shared: what is recorded counts in any case, whatever
 * the clocks of processes say of the moment in which it begins to.
 */
const sharesSince = ({ customer, shared, period }: GrantedUse): Instant =>
  shared?.users.findLast(({ customer_id }) => customer_id === customer.id)?.since ?? period.start;

/** The time after the start of a period in which the last one may have answered what the tables do not show yet. */
const overlapMilliseconds = 3_600_000;

/** The answer that the request had right before the period began; null where it had none. */
async function lastPeriodsAnswer(
  context: RequestContext,
  { asked, granted }: LimitedUse,
): Promise<EntitlementCheck | null> {
  const { start, end } = granted.period;
  if (context.idempotencyKey === null || end === null) return null;
  const since = millisecondsOf(context.now) - millisecondsOf(start);
  if (since > overlapMilliseconds) return null;
  const before = grantedUse(asked, instantOf(millisecondsOf(start) - 1));
  if (!before || before.period.start === start) return null;
  return answerIn(context, reservationOf(before));
}

class NotSeen extends Error {}

/** The answer that a reservation gave to this request; null where it has not seen it. */
async function answerIn(context: RequestContext, id: string): Promise<EntitlementCheck | null> {
  const prepare = (): never => {
    throw new NotSeen();
  };
  try {
    return answerOf(await context.execute(usageReservation, id, { prepare }));
  } catch (reason) {
    if (reason instanceof NotSeen) return null;
    throw reason;
  }
}

/** The answer to a use that was let through: the first one, whenever it is asked for. */
function answerOf({ events }: Outcome<ReservedUsage, UsageReservationEvent>): EntitlementCheck {
  const [reserved] = events;
  invariant(reserved, 'a use was let through without an event');
  const { limit, used, period_end: resetsAt, counted_up_to: position, usage } = reserved.data;
  const answer = reservedAnswer('within_limit', { limit, used, resetsAt, position });
  return { ...answer, event_id: usage.event_id };
}
