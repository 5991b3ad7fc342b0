import { canonicalJson, sha256 } from '@counterfoil/kernel';
import { ReadEvent } from './incoming-event.ts';
import type { WireEvent } from './read-message.ts';
import {
  type RecordedMetadata,
  recordedMetadata,
  scopeIn,
  type UnhashedMetadata,
} from './recorded-metadata.ts';
import type { EventMetadata, NewEvent, StoredEvent } from './types.ts';

/** The hash before the first event of a stream. */
export const chainStart = '0'.repeat(64);

type Unhashed = Omit<NewEvent, 'metadata'> & { readonly metadata: UnhashedMetadata };

/** The end of a stream's chain: the revision and hash of its last event. */
export interface ChainHead {
  readonly revision: number;
  readonly hash: string;
}

export const emptyChain: ChainHead = { revision: -1, hash: chainStart };

/** Data and metadata of an event as JSON texts in canonical form: what is hashed, sent and kept. */
export interface EventTexts {
  readonly data: string;
  readonly metadata: string;
}

/** An event that has its place in a chain, with the texts that were hashed. */
export class ChainedEvent implements NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  // A private member: a copy of an event that was changed has none.
  readonly #texts: EventTexts;

  constructor(
    { id, type }: Pick<Unhashed, 'id' | 'type'>,
    data: unknown,
    metadata: EventMetadata,
    texts: EventTexts,
  ) {
    this.id = id;
    this.type = type;
    this.data = data;
    this.metadata = metadata;
    this.#texts = texts;
  }

  /** The texts of an event that was chained here; null for any other. */
  static textsOf(event: object): EventTexts | null {
    return #texts in event ? event.#texts : null;
  }
}

/**
 * The event with its hash, ready to be appended after the head of its chain, and the length of the hashed
 * text. Its data is what a reader of the log will have. Throws a TypeError on data that JSON cannot carry.
 */
export function chained(
  stream: string,
  head: ChainHead,
  event: Unhashed,
): { readonly event: ChainedEvent; readonly length: number } {
  const data = canonicalJson(event.data);
  return chainedAs(stream, head, event, data, JSON.parse(data));
}

/**
 * The same for data that is there as its canonical JSON, and that nobody folds before it is read back: it is not
 * parsed, and the event holds none.
 */
export const chainedText = (
  stream: string,
  head: ChainHead,
  event: Omit<Unhashed, 'data'>,
  data: string,
): ChainedEvent => chainedAs(stream, head, event, data, null).event;

function chainedAs(
  stream: string,
  head: ChainHead,
  event: Omit<Unhashed, 'data'>,
  text: string,
  data: unknown,
): { readonly event: ChainedEvent; readonly length: number } {
  const [before, after] = metadataTexts(recordedMetadata(scopeIn(stream), event.metadata));
  const place = { stream, revision: head.revision + 1, id: event.id, type: event.type };
  const hashed = chainText(place, text, `${before},${after}`, head.hash);
  const hash = sha256(hashed);
  const metadata = { ...event.metadata, hash };
  const texts = { data: text, metadata: `${before},"hash":"${hash}",${after}` };
  return { event: new ChainedEvent(event, data, metadata, texts), length: hashed.length };
}

/** The canonical JSON of metadata in two parts, between which the hash has its place. */
function metadataTexts(recorded: RecordedMetadata): readonly [before: string, after: string] {
  const { $causationId, $correlationId, actor, environment_id } = recorded;
  const { occurred_at, request, schema_version, tenant_id } = recorded;
  const before = canonicalJson({ $causationId, $correlationId, actor, environment_id });
  const after = canonicalJson({ occurred_at, request, schema_version, tenant_id });
  return [before.slice(0, -1), after.slice(1)];
}

type Place = Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'type'>;

/** The canonical JSON (RFC 8785) of an event and the hash before it. */
const chainText = (place: Place, data: string, metadata: string, prev: string): string =>
  `{"data":${data},"id":${JSON.stringify(place.id)},"metadata":${metadata},"prev":"${prev}",` +
  `"revision":${place.revision},"stream":${JSON.stringify(place.stream)},` +
  `"type":${JSON.stringify(place.type)}}`;

/**
 * Hash of an event: SHA-256 over the canonical JSON (RFC 8785) of stream, revision, id, type, data,
 * all recorded metadata but the hash itself, and the hash of the event before it, which is not stored a
 * second time. So a changed, removed, inserted or moved event breaks the chain at that place.
 */
export const chainHash = (
  stream: string,
  { revision, hash }: ChainHead,
  { id, type, data, metadata }: Unhashed,
): string => {
  const recorded = canonicalJson(recordedMetadata(scopeIn(stream), metadata));
  const place = { stream, revision: revision + 1, id, type };
  return sha256(chainText(place, canonicalJson(data), recorded, hash));
};

/** The fault of the next event of a chain, in one sentence; null when it fits. */
export function chainFault(head: ChainHead, event: StoredEvent): string | null {
  if (event.revision !== head.revision + 1) {
    return `revision ${head.revision + 1} is missing; the next event is ${event.revision}`;
  }
  if (isAsHashed(head, event)) return null;
  return 'its content does not match its hash, or it does not follow the event before it';
}

function isAsHashed(head: ChainHead, event: StoredEvent): boolean {
  const recorded = ReadEvent.recordedOf(event);
  if (recorded) return isAsRecorded(head, recorded, event.metadata.hash);
  const { hash, ...metadata } = event.metadata;
  const { stream, id, type, data } = event;
  return chainHash(stream, head, { id, type, data, metadata }) === hash;
}

/**
 * Tells whether the texts that the store has of an event are the ones that were hashed, as they stand or
 * in canonical form. No other text has the same hash, so a match proves the event without parsing any JSON.
 */
function isAsRecorded(head: ChainHead, recorded: WireEvent, hash: string): boolean {
  const isHashed = (data: string, metadata: string): boolean =>
    sha256(chainText(recorded, data, metadata, head.hash)) === hash;
  const { data, metadata } = recorded;
  if (isHashed(data, metadata.replace(`,"hash":"${hash}"`, ''))) return true;
  const { hash: _hash, ...unhashed } = JSON.parse(metadata);
  return isHashed(canonicalJson(JSON.parse(data)), canonicalJson(unhashed));
}

/** The chain after an event. */
export const chainAfter = (event: StoredEvent): ChainHead => ({
  revision: event.revision,
  hash: event.metadata.hash,
});

/**
 * An event in canonical JSON as its log keeps it: with the hash before it as `prev`, and without its own, this
 * is the text that was hashed.
 */
export function recordedLine({ data, id, metadata, revision, stream, type }: StoredEvent): string {
  const { hash, ...rest } = metadata;
  const kept = { ...recordedMetadata(scopeIn(stream), rest), hash };
  return canonicalJson({ data, id, metadata: kept, revision, stream, type });
}
