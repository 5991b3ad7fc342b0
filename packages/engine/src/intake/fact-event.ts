import { type Instant, laterOf } from '@counterfoil/kernel';
import type { Cause } from '../decide/command.ts';
import { type ChainHead, chainedText } from '../log/hash-chain.ts';
import type { NewEvent, StoredEvent } from '../log/types.ts';

/** Facts that stand in one event of the log: those of one caller that were there at the same time. */
export interface FactGroup {
  readonly cause: Cause;
  /** Each in canonical JSON. */
  readonly texts: readonly string[];
}

/** The end of a stream of facts. */
export interface FactHead extends ChainHead {
  /** The time of its last event, behind which none may stand. */
  readonly occurredAt: Instant;
}

/** The event that records some facts, and the head of its stream after it. */
export function factEvent(
  stream: string,
  head: FactHead,
  { id, type, now }: { readonly id: string; readonly type: string; readonly now: Instant },
  { cause, texts }: FactGroup,
): { readonly event: NewEvent; readonly head: FactHead } {
  const occurredAt = laterOf(now, head.occurredAt);
  const metadata = {
    tenant_id: cause.tenantId,
    environment_id: cause.environmentId,
    actor: cause.actor,
    occurred_at: occurredAt,
    schema_version: 1,
    $correlationId: cause.correlationId,
    $causationId: cause.causationId,
  };
  const data = `{"facts":[${texts.join(',')}]}`;
  const event = chainedText(stream, head, { id, type, metadata }, data);
  const { hash } = event.metadata;
  return { event, head: { revision: head.revision + 1, hash, occurredAt } };
}

/** The facts of an event of the log. Throws when it holds none. */
export function factsOf(event: StoredEvent): readonly unknown[] {
  const { facts } = event.data as { readonly facts?: unknown };
  if (Array.isArray(facts)) return facts;
  throw new TypeError(`${event.stream}@${event.revision}: ${event.type} holds no facts`);
}
