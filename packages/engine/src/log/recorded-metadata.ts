import type { Actor, Instant } from '@counterfoil/kernel';
import type { EventMetadata, RequestFingerprint } from './types.ts';

/**
 * Metadata as the log keeps it: without what follows from the name of the stream and from the other
 * members. `hash` comes with the event (hash-chain.ts).
 */
export interface RecordedMetadata {
  /** Absent when it is the id of the record that caused this event alone: that of the request. */
  readonly $causationId?: string | undefined;
  readonly $correlationId: string;
  readonly actor: Actor;
  /** Absent when the stream's name says it. */
  readonly environment_id?: string | null | undefined;
  readonly occurred_at: Instant;
  /** The number of events is absent for one. */
  readonly request?: (RequestFingerprint & { readonly events?: number | undefined }) | undefined;
  /** Absent for 1. */
  readonly schema_version?: number | undefined;
  /** Absent when the stream's name says it. */
  readonly tenant_id?: string | undefined;
}

/** Metadata of an event before it has its hash. */
export type UnhashedMetadata = Omit<EventMetadata, 'hash'>;

/** The scope in a stream's name; empty for a name without one. */
export const scopeIn = (stream: string): string =>
  stream.slice(stream.indexOf('-') + 1, Math.max(0, stream.indexOf('.')));

/**
 * The form of metadata that is hashed and kept, its members in canonical order; those that are left out
 * are undefined. A scope that is not the tenant is the environment.
 */
export function recordedMetadata(scope: string, metadata: UnhashedMetadata): RecordedMetadata {
  const { tenant_id, environment_id, request, $causationId, $correlationId } = metadata;
  const isOfTenant = tenant_id === scope;
  const namedEnvironment = isOfTenant ? null : scope;
  return {
    $causationId: $causationId === $correlationId ? undefined : $causationId,
    $correlationId,
    actor: metadata.actor,
    environment_id: environment_id === namedEnvironment ? undefined : environment_id,
    occurred_at: metadata.occurred_at,
    request: request && {
      events: request.events === 1 ? undefined : request.events,
      fields: request.fields,
      key: request.key,
    },
    schema_version: metadata.schema_version === 1 ? undefined : metadata.schema_version,
    tenant_id: isOfTenant ? undefined : tenant_id,
  };
}

/** The whole of metadata that the log keeps: the reverse of `recordedMetadata`. */
export function wholeMetadata(
  scope: string,
  { hash, ...recorded }: RecordedMetadata & { readonly hash: string },
): EventMetadata {
  const { $correlationId, $causationId = $correlationId, environment_id, request } = recorded;
  const { tenant_id = scope, schema_version = 1, actor, occurred_at } = recorded;
  const namedEnvironment = tenant_id === scope ? null : scope;
  return {
    tenant_id,
    environment_id: environment_id === undefined ? namedEnvironment : environment_id,
    actor,
    occurred_at,
    schema_version,
    $correlationId,
    $causationId,
    ...(request ? { request: { ...request, events: request.events ?? 1 } } : {}),
    hash,
  };
}
