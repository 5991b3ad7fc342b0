import { canonicalJson, sha256 } from '@counterfoil/kernel';
import { ReadEvent } from './incoming-event.ts';
import { inCanonicalOrder } from './json-safety.ts';
import type { WireEvent } from './read-message.ts';
import type { EventMetadata, NewEvent, StoredEvent } from './types.ts';

/** The `prev` of the first event of a stream. */
export const chainStart = '0'.repeat(64);

type Unhashed = Omit<NewEvent, 'metadata'> & { readonly metadata: Omit<EventMetadata, 'hash'> };

/**
 * Hash of an event: SHA-256 over the canonical JSON (RFC 8785) of stream, revision, id, type,
 * data and all metadata but the hash itself. `prev` is part of the metadata, so a changed,
 * removed, inserted or moved event breaks the chain at that place.
 */
export const chainHash = (stream: string, revision: number, event: Unhashed): string =>
  sha256(chainText(stream, revision, event));

const chainText = (stream: string, revision: number, event: Unhashed): string =>
  canonicalJson({
    data: event.data,
    id: event.id,
    metadata: event.metadata,
    revision,
    stream,
    type: event.type,
  });

/**
 * The event with its hash, ready to be appended at this place, and the length of the hashed text. Its
 * members are in canonical order, so that the store keeps exactly the text that was hashed.
 */
export function chained(
  stream: string,
  revision: number,
  event: Unhashed,
): { readonly event: NewEvent; readonly length: number } {
  const data = inCanonicalOrder(event.data);
  const text = chainText(stream, revision, { ...event, data });
  const metadata = inCanonicalOrder({ ...event.metadata, hash: sha256(text) }) as EventMetadata;
  return { event: { ...event, data, metadata }, length: text.length };
}

/** The end of a stream's chain: the revision and hash of its last event. */
export interface ChainHead {
  readonly revision: number;
  readonly hash: string;
}

export const emptyChain: ChainHead = { revision: -1, hash: chainStart };

/** The fault of the next event of a chain, in one sentence; null when it fits. */
export function chainFault(head: ChainHead, event: StoredEvent): string | null {
  if (event.revision !== head.revision + 1) {
    return `revision ${head.revision + 1} is missing; the next event is ${event.revision}`;
  }
  if (event.metadata.prev !== head.hash) return 'does not follow the event before it';
  return isAsHashed(event) ? null : 'its content does not match its hash';
}

function isAsHashed(event: StoredEvent): boolean {
  const { hash, ...metadata } = event.metadata;
  const recorded = ReadEvent.recordedOf(event);
  if (recorded && sha256(recordedText(recorded, hash)) === hash) return true;
  const { stream, revision, id, type, data } = event;
  return chainHash(stream, revision, { id, type, data, metadata }) === hash;
}

/**
 * The texts that the store has of an event, put together as they are hashed. No other text has the
 * same hash, so a match proves the event without parsing any JSON. An event whose members were written
 * in another order does not match.
 */
function recordedText(recorded: WireEvent, hash: string): string {
  const { stream, revision, id, type, data } = recorded;
  const metadata = recorded.metadata.replace(`,"hash":"${hash}"`, '');
  const [idText, streamText, typeText] = [id, stream, type].map((text) => JSON.stringify(text));
  return `{"data":${data},"id":${idText},"metadata":${metadata},"revision":${revision},"stream":${streamText},"type":${typeText}}`;
}

/** The chain after an event. */
export const chainAfter = (event: StoredEvent): ChainHead => ({
  revision: event.revision,
  hash: event.metadata.hash,
});
