import {
  type Instant,
  laterOf,
  Problem,
  type ProblemCode,
  RefusedWithEvents,
  type Stamped,
} from '@counterfoil/kernel';
import {
  type ClaimedChange,
  isClaimed,
  referenceChange,
  uniqueChange,
} from '../constraints/changes.ts';
import { belongsTo, keptData, schemaVersion, stampedEvent } from '../log/decode.ts';
import { chained } from '../log/hash-chain.ts';
import type { NewEvent } from '../log/types.ts';
import {
  advance,
  requestRefused,
  requestWithoutEffect,
  type StreamPlace,
  type StreamState,
} from '../stream-cache/stream-state.ts';
import type { QueuedCommand, RawEvent } from './command.ts';
import { assertSameRequest } from './request-fingerprint.ts';

/** Limits of one append: commands decided together, and characters of canonical JSON. */
export const batchLimits = { commands: 256, characters: 300_000 } as const;

/** Events that one command adds to a stream. */
export interface Appended<State> {
  readonly kind: 'appended';
  readonly after: StreamState<State>;
  readonly newEvents: readonly NewEvent[];
  /** Those that belong to the record itself: none when only the engine keeps something of the request. */
  readonly events: readonly Stamped<RawEvent>[];
  readonly characters: number;
  /** True when they change which unique values the record holds, exactly as its claims say. */
  readonly usesClaims: boolean;
  /** Set when all that is appended is the record that the command was refused. */
  readonly refusal: Problem | null;
}

/** The decision of a batch on one command, valid once the append of the batch succeeds. */
export type Decided<State> =
  | Appended<State>
  | { readonly kind: 'unchanged'; readonly after: StreamState<State> }
  | { readonly kind: 'refused'; readonly reason: unknown }
  /** The key was seen in this stream before, or earlier in this batch. */
  | { readonly kind: 'repeated'; readonly of: QueuedCommand<State> | null }
  /** The decision changes what the record holds or refers to: that must be claimed first. */
  | (ClaimedChange & { readonly kind: 'claims' });

/** Commands decided together, and the one append that carries them out. */
export interface Batch<State> {
  readonly decided: readonly (readonly [QueuedCommand<State>, Decided<State>])[];
  readonly events: readonly NewEvent[];
  readonly after: StreamState<State>;
}

export interface BatchInput<State> {
  readonly place: StreamPlace;
  readonly stream: StreamState<State>;
  readonly commands: readonly QueuedCommand<State>[];
  readonly isKnownKey: (key: string) => boolean;
  readonly now: Instant;
  readonly newEventId: () => string;
}

/** Tells whether a decision holds whatever others have written meanwhile. */
export const needsNoFreshState = (kind: Decided<unknown>['kind']): boolean =>
  kind === 'repeated' || kind === 'claims';

/**
 * Decides commands one after the other on the folded stream, each on the state that the ones
 * before it left. A command that fails leaves the others as if it were absent. Stops early, with
 * fewer decided commands than given, before the append would grow too large.
 */
export function decideBatch<State>(input: BatchInput<State>): Batch<State> {
  const decided: (readonly [QueuedCommand<State>, Decided<State>])[] = [];
  const events: NewEvent[] = [];
  const keysOfBatch = new Map<string, QueuedCommand<State>>();
  let stream = input.stream;
  let characters = 0;
  for (const command of input.commands) {
    const key = command.fingerprint?.key;
    const earlier = key === undefined ? undefined : keysOfBatch.get(key);
    if (earlier || (key !== undefined && input.isKnownKey(key))) {
      decided.push([command, repeat(command, earlier ?? null)]);
      continue;
    }
    const decision = decideOne(input, stream, command);
    if (decision.kind === 'appended') {
      // A large command goes alone, so that the store's limit refuses no other with it.
      if (events.length > 0 && characters + decision.characters > batchLimits.characters) break;
      stream = decision.after;
      events.push(...decision.newEvents);
      characters += decision.characters;
      if (key !== undefined) keysOfBatch.set(key, command);
    }
    decided.push([command, decision]);
  }
  return { decided, events, after: stream };
}

function repeat<State>(
  command: QueuedCommand<State>,
  earlier: QueuedCommand<State> | null,
): Decided<State> {
  try {
    if (earlier?.fingerprint && command.fingerprint) {
      assertSameRequest(earlier.fingerprint, command.fingerprint);
    }
    return { kind: 'repeated', of: earlier };
  } catch (reason) {
    return { kind: 'refused', reason };
  }
}

function decideOne<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  command: QueuedCommand<State>,
): Decided<State> {
  const { aggregate } = input.place;
  const at = laterOf(input.now, stream.occurredAt ?? input.now);
  try {
    assertRevision(command.expectedRevision, stream.recordRevision);
    const raw = eventsOf(command, stream, at);
    if (raw.length === 0) return withoutEffect(input, stream, command, at);
    const written = writeEvents(input, stream, raw, command, at);
    const { state } = written.after;
    const change: ClaimedChange = {
      ...uniqueChange(aggregate, stream.state, state),
      ...referenceChange(aggregate, stream.state, state, at),
      decidedAt: stream.head.revision,
      at,
    };
    if (!isClaimed(command.lease, change, stream)) return { ...change, kind: 'claims' };
    const [first] = written.newEvents;
    return {
      ...written,
      usesClaims: change.added.length > 0 || change.dropped.length > 0,
      refusal: first ? refusalOf(first) : null,
    };
  } catch (reason) {
    return { kind: 'refused', reason };
  }
}

/** The events of a decision; of one that refuses, the refusal to be recorded and what it leads to. */
function eventsOf<State>(
  command: QueuedCommand<State>,
  { state }: StreamState<State>,
  at: Instant,
): readonly RawEvent[] {
  try {
    return command.decide(state, at);
  } catch (reason) {
    if (reason instanceof RefusedWithEvents)
      return [refusalEvent(reason.problem), ...reason.events];
    const isKept = reason instanceof Problem && reason.isRemembered && remembersAll(command);
    if (!isKept) throw reason;
    return [refusalEvent(reason)];
  }
}

/** Tells whether refusals and commands without effect are remembered too. */
const remembersAll = ({ fingerprint, remembersEffectsOnly }: QueuedCommand<never>): boolean =>
  fingerprint !== null && !remembersEffectsOnly;

/**
 * A command that had nothing to do. Under a key this has to be remembered, or a repetition that
 * comes after the record has changed would find something to do. A record that does not exist
 * remembers nothing: its decision refuses the request.
 */
function withoutEffect<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  command: QueuedCommand<State>,
  at: Instant,
): Decided<State> {
  if (!remembersAll(command) || stream.recordRevision < 0) {
    return { kind: 'unchanged', after: stream };
  }
  const remembered: RawEvent = { type: requestWithoutEffect, data: {} };
  return writeEvents(input, stream, [remembered], command, at);
}

function assertRevision(expected: number | null, actual: number): void {
  if (expected === null || expected === actual) return;
  throw new Problem(
    'precondition_failed',
    `The record is at revision ${actual}, If-Match asked for ${expected}. Read it again and retry.`,
    { details: { expected, actual } },
  );
}

/** Gives events their metadata, ids, place and hash, and folds them as they will be read again. */
function writeEvents<State>(
  input: BatchInput<State>,
  stream: StreamState<State>,
  raw: readonly RawEvent[],
  { cause, fingerprint }: QueuedCommand<State>,
  at: Instant,
): Appended<State> {
  const { aggregate, name } = input.place;
  const newEvents: NewEvent[] = [];
  const events: Stamped<RawEvent>[] = [];
  let after = stream;
  let characters = 0;
  for (const [index, { type, data }] of raw.entries()) {
    const isOwn = belongsTo(aggregate, { type });
    const revision = after.head.revision + 1;
    const { event, length } = chained(name, after.head, {
      id: input.newEventId(),
      type,
      data: isOwn ? keptData(aggregate, { type, data }, at) : data,
      metadata: {
        tenant_id: cause.tenantId,
        environment_id: cause.environmentId,
        occurred_at: at,
        actor: cause.actor,
        schema_version: isOwn ? schemaVersion(aggregate, type) : 1,
        $correlationId: cause.correlationId,
        $causationId: cause.causationId,
        ...(fingerprint && index === 0 ? { request: { ...fingerprint, events: raw.length } } : {}),
      },
    });
    // The position is known as soon as the store has taken the append.
    const stored = { ...event, stream: name, revision, position: after.position };
    after = advance(aggregate, after, stored);
    newEvents.push(event);
    if (isOwn) events.push(stampedEvent(aggregate, stored));
    characters += length;
  }
  const common = { usesClaims: false, refusal: null };
  return { kind: 'appended', after, newEvents, events, characters, ...common };
}

interface RefusalData {
  readonly code: ProblemCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | null;
}

/** The event that keeps a refusal. */
const refusalEvent = ({ code, message, details }: Problem): RawEvent => ({
  type: requestRefused,
  data: { code, message, details: details ?? null } satisfies RefusalData,
});

/** The refusal that an event keeps; null for every other event. */
export function refusalOf(event: RawEvent): Problem | null {
  if (event.type !== requestRefused) return null;
  const { code, message, details } = event.data as RefusalData;
  return new Problem(code, message, { isRemembered: true, ...(details ? { details } : {}) });
}
