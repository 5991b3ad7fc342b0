import { randomUUID } from 'node:crypto';
import { chained, emptyChain } from './hash-chain.ts';
import { isChained, ReadEvent, readEvent, UnreadableEvent } from './incoming-event.ts';
import { isPlainObject } from './json-safety.ts';
import { appendBytesMaximum, type OutgoingAppend, outgoingAppend } from './outgoing-append.ts';
import { parseStreamName, streamName } from './stream-name.ts';
import { AppendError, type EventMetadata, type NewEvent, type StoredEvent } from './types.ts';

/**
 * The most bytes of all events that are appended together. Above what one request or invoice can come to: a
 * defect must not fill the log.
 */
export const contentsBytesMaximum = 48 * 1024 * 1024;

/**
 * Characters of one event of an annex. In a text that is JSON already, none takes more than three bytes
 * when it becomes a JSON string, and the rest of the append is room for metadata.
 */
const pieceCharacters = 340_000;

/** The place of an event's contents: an annex, and the index into the list in it. */
interface AnnexPlace {
  readonly stream: string;
  readonly index: number;
}

/**
 * The appends that write events as one: the last of them is the commit point, and is sent when the others
 * have succeeded. Events that fit go as they are, in one append. Larger ones leave their contents in an
 * annex, a stream of its own, and what is appended to their own stream only names the place of each. An
 * annex that nothing names is never seen by anybody. Throws `AppendError`: as `outgoingAppend` does, and
 * `too_large` beyond what an annex may take.
 */
export function outgoingAppends(
  stream: string,
  events: readonly NewEvent[],
  expectedRevision: number,
): readonly OutgoingAppend[] {
  const whole = outgoingAppend(stream, events, expectedRevision);
  if (whole.bytes <= appendBytesMaximum) return [whole];
  assertFits(whole, contentsBytesMaximum);
  const { scope } = parseStreamName(stream) ?? { scope: '' };
  const annex = streamName({ category: 'annex', scope, id: randomUUID().replaceAll('-', '') });
  const references = events.map(({ id, type, metadata: { hash } }, index) => {
    const place: AnnexPlace = { stream: annex, index };
    return { id, type, data: {}, metadata: { annex: place, hash } };
  });
  const commit = outgoingAppend(stream, references, expectedRevision);
  assertFits(commit, appendBytesMaximum);
  return [...annexAppends(annex, events, whole), commit];
}

function assertFits({ stream, bytes }: OutgoingAppend, maximum: number): void {
  if (bytes <= maximum) return;
  throw new AppendError('too_large', `${stream}: ${bytes} bytes at once, at most ${maximum}`);
}

/** The appends of an annex: data and metadata of events as one JSON text, cut into pieces. */
function annexAppends(
  annex: string,
  events: readonly NewEvent[],
  whole: OutgoingAppend,
): readonly OutgoingAppend[] {
  const contents = whole.events.map(
    ({ data, metadata }) => `{"data":${data},"metadata":${metadata}}`,
  );
  let head = emptyChain;
  return piecesOf(`[${contents.join(',')}]`).map((text) => {
    const { revision } = head;
    const { event } = chained(annex, head, {
      id: randomUUID(),
      type: 'ContentsAnnexed',
      data: { text },
      metadata: { ...metadataOf(events), schema_version: 1 },
    });
    head = { revision: revision + 1, hash: event.metadata.hash };
    return outgoingAppend(annex, [event], revision);
  });
}

/** The metadata that the events of one append have in common. */
function metadataOf([first]: readonly NewEvent[]): Omit<EventMetadata, 'hash'> {
  if (!first) throw new AppendError('fatal', 'an append needs at least one event');
  const { request: _request, hash: _hash, ...common } = first.metadata;
  return common;
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    let end = start + pieceCharacters;
    // Never between the two halves of one character.
    if (!text.slice(start, end).isWellFormed()) end -= 1;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

const annexPlaceOf = ({ metadata }: StoredEvent): AnnexPlace | null =>
  'annex' in metadata ? (metadata.annex as AnnexPlace) : null;

/** Tells whether the contents of an event stand in an annex. */
export const isAnnexed = (event: StoredEvent): boolean => annexPlaceOf(event) !== null;

/**
 * Returns a function that gives events with their contents, as they were appended. It reads an annex once
 * for all events of an append. Rejects with `UnreadableEvent` when the annex does not hold them.
 *
 * @param read the events of a stream
 */
export function createAnnexReader(
  read: (stream: string) => Promise<readonly StoredEvent[]>,
): (event: StoredEvent) => Promise<StoredEvent> {
  let last: { readonly stream: string; readonly contents: readonly unknown[] } | null = null;
  return async (event) => {
    const place = annexPlaceOf(event);
    if (!place) return event;
    const { stream, index } = place;
    if (last?.stream !== stream) last = { stream, contents: contentsIn(await read(stream)) };
    const complete = withContents(event, last.contents[index]);
    if (complete) return complete;
    const reason = `${stream} does not hold its contents`;
    throw new UnreadableEvent(event.stream, event.revision, reason);
  };
}

function contentsIn(annex: readonly StoredEvent[]): readonly unknown[] {
  const pieces = annex.map(({ data }) => (isPlainObject(data) ? String(data.text) : ''));
  try {
    const contents: unknown = JSON.parse(pieces.join(''));
    return Array.isArray(contents) ? contents : [];
  } catch {
    return [];
  }
}

/** The event with contents that have its hash; null for any others. */
function withContents(event: StoredEvent, contents: unknown): StoredEvent | null {
  const recorded = ReadEvent.recordedOf(event);
  if (!recorded || !isPlainObject(contents)) return null;
  const { data, metadata } = contents;
  if (!isPlainObject(data) || !isChained(metadata)) return null;
  if (metadata.hash !== event.metadata.hash) return null;
  const texts = { data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
  return readEvent({ ...recorded, ...texts }, event.position, data, metadata);
}
