import {
  type AnyAggregate,
  type Instant,
  laterOf,
  Problem,
  type Stamp,
  type Stamped,
} from '@counterfoil/kernel';
import type { ClaimedChange, ReservationLease } from '../constraints/lease.ts';
import { isReferenceCovered, referenceChange } from '../constraints/reference-change.ts';
import { isSameSet, type UniqueChange, uniqueChange } from '../constraints/unique-change.ts';
import { belongsTo, schemaVersion } from '../log/decode.ts';
import { chained } from '../log/hash-chain.ts';
import type { NewEvent } from '../log/types.ts';
import {
  dropsValue,
  requestWithoutEffect,
  revokedAfter,
  type StreamState,
} from '../stream-cache/stream-state.ts';
import type { Cause, RawEvent } from './command.ts';
import type { Entry } from './entry.ts';
import { refusalEvent, refusalOf } from './refusal.ts';
import { assertSameRequest } from './request-fingerprint.ts';

/** Limits of one append: commands decided together, and characters of canonical JSON. */
export const batchLimits = { commands: 256, characters: 300_000 } as const;

export interface AppendedVerdict<State> {
  readonly kind: 'appended';
  readonly after: StreamState<State>;
  /** The events of the record; none when the engine alone keeps something of the request. */
  readonly events: readonly Stamped<RawEvent>[];
  readonly lastEventId: string;
  /** True when it changes which unique values the record holds, exactly as its claims say. */
  readonly usesClaims: boolean;
  /** Set when all that was appended is the record that the command was refused. */
  readonly refusal: Problem | null;
}

/** The decision of a batch for one command, valid once the append of the batch succeeds. */
export type Verdict<State> =
  | AppendedVerdict<State>
  | { readonly kind: 'unchanged'; readonly after: StreamState<State> }
  | { readonly kind: 'refused'; readonly reason: unknown }
  /** The key was seen in this stream before, or earlier in this batch. */
  | { readonly kind: 'repeated'; readonly of: Entry<State> | null }
  /** The decision changes what the record holds or refers to: that must be claimed first. */
  | (ClaimedChange & { readonly kind: 'claims' });

export type ClaimsVerdict = Extract<Verdict<unknown>, { kind: 'claims' }>;

/** Tells whether a verdict holds whatever others have written meanwhile. */
export const needsNoFreshState = (kind: Verdict<unknown>['kind']): boolean =>
  kind === 'repeated' || kind === 'claims';

export interface DecidedEntry<State> {
  readonly entry: Entry<State>;
  readonly verdict: Verdict<State>;
}

export interface DecidedBatch<State> {
  readonly decided: readonly DecidedEntry<State>[];
  readonly events: readonly NewEvent[];
  readonly after: StreamState<State>;
}

export interface BatchInput<State> {
  readonly aggregate: AnyAggregate;
  readonly streamName: string;
  readonly stream: StreamState<State>;
  readonly entries: readonly Entry<State>[];
  readonly isKnownKey: (key: string) => boolean;
  readonly now: Instant;
  readonly newEventId: () => string;
}

/**
 * Decides commands one after the other on the folded stream, each on the state that the ones
 * before it left. A command that fails leaves the others as if it were absent. Stops early, with
 * fewer decided entries than given, before the append would grow too large.
 */
export function decideBatch<State>(input: BatchInput<State>): DecidedBatch<State> {
  const decided: DecidedEntry<State>[] = [];
  const events: NewEvent[] = [];
  const keysOfBatch = new Map<string, Entry<State>>();
  let stream = input.stream;
  let characters = 0;
  for (const entry of input.entries) {
    const { mark } = entry.command;
    const earlier = mark ? keysOfBatch.get(mark.key) : undefined;
    if (mark && (earlier || input.isKnownKey(mark.key))) {
      decided.push({ entry, verdict: repeat(entry, earlier ?? null) });
      continue;
    }
    const step = decideOne(input, stream, entry);
    // What is large goes alone, so that the store's limit can refuse nothing but itself.
    if (events.length > 0 && characters + step.characters > batchLimits.characters) break;
    decided.push({ entry, verdict: step.verdict });
    if (step.verdict.kind !== 'appended') continue;
    stream = step.verdict.after;
    events.push(...step.events);
    characters += step.characters;
    if (mark) keysOfBatch.set(mark.key, entry);
  }
  return { decided, events, after: stream };
}

function repeat<State>(entry: Entry<State>, earlier: Entry<State> | null): Verdict<State> {
  if (!earlier?.command.mark || !entry.command.mark) return { kind: 'repeated', of: earlier };
  try {
    assertSameRequest(earlier.command.mark, entry.command.mark);
    return { kind: 'repeated', of: earlier };
  } catch (reason) {
    return { kind: 'refused', reason };
  }
}

interface Step<State> {
  readonly verdict: Verdict<State>;
  readonly events: readonly NewEvent[];
  readonly characters: number;
}

const only = <State>(verdict: Verdict<State>): Step<State> => ({
  verdict,
  events: [],
  characters: 0,
});

function decideOne<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  entry: Entry<State>,
): Step<State> {
  const { aggregate } = input;
  const { command } = entry;
  const at = laterOf(input.now, stream.occurredAt ?? input.now);
  try {
    assertRevision(command.expectedRevision, stream.recordRevision);
    const raw = command.decide(stream.state, at);
    if (raw.length === 0) return withoutEffect(input, stream, entry, at);
    const written = writeEvents(input, stream, raw, entry, at);
    const { state } = written.after;
    const change = uniqueChange(aggregate, stream.state, state);
    const references = referenceChange(aggregate, stream.state, state, at);
    const usesClaims = change.added.length > 0 || change.dropped.length > 0;
    const isClaimed =
      (!usesClaims || isCovered(entry.ticket, change, stream)) &&
      isReferenceCovered(entry.ticket, references, stream);
    if (!isClaimed) {
      return only({ kind: 'claims', ...change, ...references, revision: stream.head.revision, at });
    }
    return appended(written, { usesClaims });
  } catch (reason) {
    const isKept = reason instanceof Problem && reason.isRemembered && command.mark !== null;
    if (!isKept) return only({ kind: 'refused', reason });
    const written = writeEvents(input, stream, [refusalEvent(reason)], entry, at);
    const [kept] = written.events;
    return appended(written, { refusal: kept ? refusalOf(kept) : reason });
  }
}

/**
 * A command that had nothing to do. Under a key this has to be remembered, or a repetition that comes
 * after the record has changed would find something to do. A record that does not exist remembers
 * nothing: whoever answers for it refuses the request.
 */
function withoutEffect<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  entry: Entry<State>,
  at: Instant,
): Step<State> {
  if (entry.command.mark === null || stream.recordRevision < 0) {
    return only({ kind: 'unchanged', after: stream });
  }
  const remembered: RawEvent = { type: requestWithoutEffect, data: {} };
  return appended(writeEvents(input, stream, [remembered], entry, at));
}

const appended = <State>(
  { after, own, events, characters }: Written<State>,
  {
    refusal = null,
    usesClaims = false,
  }: Partial<Pick<AppendedVerdict<State>, 'refusal' | 'usesClaims'>> = {},
): Step<State> => ({
  verdict: {
    kind: 'appended',
    after,
    events: own,
    lastEventId: events.at(-1)?.id ?? '',
    usesClaims,
    refusal,
  },
  events,
  characters,
});

function assertRevision(expected: number | null, actual: number): void {
  if (expected === null || expected === actual) return;
  throw new Problem(
    'precondition_failed',
    `The record is at revision ${actual}, If-Match asked for ${expected}. Read it again and retry.`,
    { details: { expected, actual } },
  );
}

/**
 * Tells whether the claims of a command still stand. They do not once the record has given up a
 * value after they were asked for: another command of the record may have held the value by the
 * same reservation, and then it is free for everybody again. And they have to be for this very
 * change: once it is appended, every value that they say is given up is free for others.
 */
function isCovered(
  ticket: ReservationLease | null,
  { added, dropped }: UniqueChange,
  { revokedClaims, droppedAt }: StreamState<unknown>,
): boolean {
  if (!ticket || ticket.decidedAt < droppedAt) return false;
  if (ticket.claimIds.some((id) => revokedClaims.has(id))) return false;
  return isSameSet(ticket.added, added) && isSameSet(ticket.dropped, dropped);
}

interface Written<State> {
  readonly events: readonly NewEvent[];
  /** Those that belong to the record itself. */
  readonly own: readonly Stamped<RawEvent>[];
  readonly after: StreamState<State>;
  readonly characters: number;
}

/** Gives events their stamps, ids, place and hash, and folds them. */
function writeEvents<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  raw: readonly RawEvent[],
  entry: Entry<State>,
  at: Instant,
): Written<State> {
  const { aggregate } = input;
  const { cause, mark } = entry.command;
  const stamp = stampOf(cause, at);
  const events: NewEvent[] = [];
  const own: Stamped<RawEvent>[] = [];
  let after = stream;
  let characters = 0;
  for (const [index, { type, data: given }] of raw.entries()) {
    const isOwn = belongsTo(aggregate, { type });
    const data = isOwn ? aggregate.events[type].parse(given) : given;
    const revision = after.head.revision + 1;
    const { event, length } = chained(input.streamName, revision, {
      id: input.newEventId(),
      type,
      data,
      metadata: {
        ...stamp,
        schema_version: isOwn ? schemaVersion(aggregate, type) : 1,
        $correlationId: cause.correlationId,
        $causationId: cause.causationId,
        ...(mark && index === 0 ? { request: { ...mark, events: raw.length } } : {}),
        prev: after.head.hash,
      },
    });
    // As the log has it, so that an answer that is folded anew has its members in the same order.
    const { actor } = event.metadata;
    const placed = { type, data: event.data, stamp: { ...stamp, actor } };
    const state = isOwn ? aggregate.evolve(after.state, placed) : after.state;
    after = {
      state,
      head: { revision, hash: event.metadata.hash },
      recordRevision: isOwn ? revision : after.recordRevision,
      droppedAt: dropsValue(aggregate, after.state, state) ? revision : after.droppedAt,
      occurredAt: at,
      position: after.position,
      revokedClaims: revokedAfter(after.revokedClaims, placed),
    };
    events.push(event);
    if (isOwn) own.push(placed);
    characters += length;
  }
  return { events, own, after, characters };
}

const stampOf = (cause: Cause, at: Instant): Stamp => ({
  tenant_id: cause.tenantId as Stamp['tenant_id'],
  environment_id: cause.environmentId as Stamp['environment_id'],
  occurred_at: at,
  actor: cause.actor,
});
