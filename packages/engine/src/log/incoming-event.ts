import { isPlainObject } from './json-safety.ts';
import { parseStreamName } from './stream-name.ts';
import type { EventMetadata, Position, StoredEvent } from './types.ts';

/** An event as the client gives it. `metadata` may be bytes, any JSON value or missing. */
export interface RecordedEventLike {
  readonly streamId: string;
  readonly id: string;
  readonly revision: bigint;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: unknown;
  readonly metadata?: unknown;
  readonly position?: { readonly commit: bigint; readonly prepare: bigint } | undefined;
}

/** An event of the client with the position that the log gives it. */
export interface ResolvedEventLike {
  readonly event?: RecordedEventLike | undefined;
  readonly commitPosition?: bigint | undefined;
}

/**
 * An event under a stream name of ours that is not one of our events. Reading on would mean to
 * leave something out of a ledger without saying so; repeating would not mend it.
 */
export class UnreadableEvent extends Error {
  readonly stream: string;
  readonly revision: number;
  constructor(stream: string, revision: number, reason: string) {
    super(`${stream}@${revision} cannot be read: ${reason}`);
    this.name = 'UnreadableEvent';
    this.stream = stream;
    this.revision = revision;
  }
}

/** Position of an event of the client in the log; null when the server does not tell. */
export const positionOf = ({ event, commitPosition }: ResolvedEventLike): Position | null =>
  commitPosition ?? event?.position?.commit ?? null;

/**
 * The event as the engine knows it; null for an event of a stream whose name is not ours, such
 * as the store's own. Throws `UnreadableEvent` when only the name is ours.
 */
export function incomingEvent(resolved: ResolvedEventLike): StoredEvent | null {
  const { event } = resolved;
  if (!event || !parseStreamName(event.streamId)) return null;
  const { streamId: stream, data, metadata } = event;
  const revision = Number(event.revision);
  const refuse = (reason: string): never => {
    throw new UnreadableEvent(stream, revision, reason);
  };
  const position = positionOf(resolved) ?? refuse('the server gave no position');
  if (!event.isJson || !isPlainObject(data)) return refuse('its data is no JSON object');
  if (!isChained(metadata)) return refuse('its metadata has no hash');
  return { stream, revision, position, id: event.id, type: event.type, data, metadata };
}

/** Only the hash is looked at: whoever trusts the rest of the metadata checks the chain. */
const isChained = (metadata: unknown): metadata is EventMetadata =>
  isPlainObject(metadata) && typeof metadata.hash === 'string' && typeof metadata.prev === 'string';
