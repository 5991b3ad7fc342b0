import { isPlainObject } from './json-safety.ts';
import { atEvent } from './position.ts';
import type { WireEvent } from './read-message.ts';
import { type RecordedMetadata, scopeIn, wholeMetadata } from './recorded-metadata.ts';
import { isStreamName } from './stream-name.ts';
import type { EventMetadata, Position, StoredEvent } from './types.ts';

/**
 * An event under a stream name of ours that is not one of our events. Reading on would silently leave
 * something out of a ledger, and repeating the read would change nothing.
 */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';
  readonly stream: string;
  readonly revision: number;
  readonly reason: string;
  constructor(stream: string, revision: number, reason: string) {
    super(`${stream}@${revision} cannot be read: ${reason}`);
    this.stream = stream;
    this.revision = revision;
    this.reason = reason;
  }
}

/** An event that was read, with the message that carried it. */
export class ReadEvent implements StoredEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  // A private member: a copy of an event that was changed has none.
  readonly #recorded: WireEvent;

  constructor(recorded: WireEvent, position: Position, data: unknown, metadata: EventMetadata) {
    this.stream = recorded.stream;
    this.revision = recorded.revision;
    this.position = position;
    this.id = recorded.id;
    this.type = recorded.type;
    this.data = data;
    this.metadata = metadata;
    this.#recorded = recorded;
  }

  /** The message that carried an event; null for an event made here. */
  static recordedOf(event: StoredEvent): WireEvent | null {
    return #recorded in event ? event.#recorded : null;
  }
}

/**
 * The event as the engine knows it; null for an event of a stream whose name is not ours, such as the
 * store's own. Throws `UnreadableEvent` when only the name is ours.
 */
export function incomingEvent(recorded: WireEvent): StoredEvent | null {
  const { stream, revision, position, isJson } = recorded;
  if (!isStreamName(stream)) return null;
  const refuse = (reason: string): never => {
    throw new UnreadableEvent(stream, revision, reason);
  };
  if (position === null) return refuse('the server gave no position');
  if (!Number.isSafeInteger(position)) return refuse(`its position ${position} is too large`);
  const data = isJson ? parsed(recorded.data) : undefined;
  if (!isPlainObject(data)) return refuse('its data is no JSON object');
  const metadata = parsed(recorded.metadata);
  if (!isChained(metadata)) return refuse('its metadata has no hash');
  return readEvent(recorded, atEvent(position), data, metadata);
}

/** The value of a JSON text; undefined for any other text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An event that was read, from the values of its texts. */
export const readEvent = (
  recorded: WireEvent,
  position: Position,
  data: unknown,
  metadata: ChainedMetadata,
): ReadEvent => {
  // What stands in the place of an event with an annex is completed before anybody sees it.
  const whole = 'annex' in metadata ? metadata : wholeMetadata(scopeIn(recorded.stream), metadata);
  return new ReadEvent(recorded, position, data, whole as EventMetadata);
};

type ChainedMetadata = RecordedMetadata & { readonly hash: string };

/** Looks only at the hash: a reader that trusts the rest of the metadata checks the chain. */
export const isChained = (metadata: unknown): metadata is ChainedMetadata =>
  isPlainObject(metadata) && typeof metadata.hash === 'string';
