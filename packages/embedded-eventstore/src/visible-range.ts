/** The events of a stream that can be read: truncation, maximum count and age, deletion. */
import { readContent } from './heads.ts';
import type { Storage, StreamRow } from './storage.ts';
import { isSoftDeleted, type StreamMetadata } from './stream-metadata.ts';
import { isMetadataStream, metadataStreamOf, originalStreamOf } from './stream-name.ts';

/** A stream as a reader sees it. */
export type Visibility =
  | { readonly kind: 'not-found' }
  | { readonly kind: 'deleted'; readonly row: StreamRow | undefined }
  | {
      readonly kind: 'visible';
      readonly row: StreamRow;
      readonly firstRevision: number;
      /** Events created before this time (milliseconds since 1970) have expired. */
      readonly createdAfter: number;
    };

const METADATA_OF_METADATA: StreamMetadata = { maxCount: 1 };

/** Looks a stream up as a reader sees it; `now` is in milliseconds since 1970. */
export function visibilityOf(storage: Storage, streamName: string, now: number): Visibility {
  const row = storage.findStream(streamName);
  const metadataStream = isMetadataStream(streamName);
  const original = metadataStream ? storage.findStream(originalStreamOf(streamName)) : undefined;
  if ((row?.tombstonePosition ?? original?.tombstonePosition) !== undefined) {
    return { kind: 'deleted', row };
  }
  if (row === undefined || row.lastRevision < 0) return { kind: 'not-found' };
  const metadata = metadataStream ? METADATA_OF_METADATA : metadataOf(storage, streamName);
  if (isSoftDeleted(metadata)) return { kind: 'not-found' };
  const { maxCount, maxAgeSeconds, truncateBefore } = metadata;
  return {
    kind: 'visible',
    row,
    firstRevision: Math.max(
      0,
      Number(truncateBefore ?? 0n),
      maxCount === undefined ? 0 : row.lastRevision - maxCount + 1,
    ),
    createdAfter: maxAgeSeconds === undefined ? 0 : now - maxAgeSeconds * 1000,
  };
}

function metadataOf(storage: Storage, streamName: string): StreamMetadata {
  const row = storage.findStream(metadataStreamOf(streamName));
  return (row && readContent(storage, row)?.parsed) ?? {};
}
