/** Reading and rewriting the JSON that a `$$stream` holds about its stream. */
import { topLevelMembers } from './json-scan.ts';

/** The settings in the metadata of a stream that reads obey. */
export interface StreamMetadata {
  /** The number of last events that are visible. */
  readonly maxCount?: number;
  /** The greatest age of a visible event, in seconds. */
  readonly maxAgeSeconds?: number;
  /** Revision of the first visible event. */
  readonly truncateBefore?: bigint;
}

const MAXIMUM_INT64 = 9223372036854775807n;
const INTEGER = /^-?\d+$/;
const NO_METADATA: StreamMetadata = {};

/** A truncate-before that hides every event there can be: the mark of a soft delete. */
export const SOFT_DELETED = MAXIMUM_INT64;

/** The metadata that a soft delete writes; it replaces whatever was there. */
export const SOFT_DELETE_JSON = Buffer.from(`{"$tb":${SOFT_DELETED}}`);

/**
 * Parses the data of a metadata event. Anything the real server would not understand (malformed
 * JSON, a limit of the wrong kind, a number beyond 64 bits) counts as no metadata at all.
 */
export function parseStreamMetadata(json: string): StreamMetadata {
  if (!isJsonObject(json)) return NO_METADATA;
  let maxCount: number | undefined;
  let maxAgeSeconds: number | undefined;
  let truncateBefore: bigint | undefined;
  for (const { key, start, end } of topLevelMembers(json)) {
    if (key !== '$maxCount' && key !== '$maxAge' && key !== '$tb') continue;
    const value = parseInt64(json.slice(start, end));
    if (value === undefined || value < (key === '$tb' ? 0n : 1n)) return NO_METADATA;
    if (key === '$maxCount') maxCount = Number(value);
    else if (key === '$maxAge') maxAgeSeconds = Number(value);
    else truncateBefore = value;
  }
  return {
    ...(maxCount === undefined ? {} : { maxCount }),
    ...(maxAgeSeconds === undefined ? {} : { maxAgeSeconds }),
    ...(truncateBefore === undefined ? {} : { truncateBefore }),
  };
}

/** Tells whether the metadata marks the stream as soft-deleted. */
export function isSoftDeleted(metadata: StreamMetadata): boolean {
  return metadata.truncateBefore === SOFT_DELETED;
}

/**
 * The metadata JSON with `$tb` set to `revision` and every other byte kept, which is what
 * recreating a soft-deleted stream writes. `json` must be a JSON object.
 */
export function withTruncateBefore(json: string, revision: number): string {
  const spans = topLevelMembers(json).filter((member) => member.key === '$tb');
  if (spans.length === 0) {
    const open = json.indexOf('{') + 1;
    const separator = topLevelMembers(json).length > 0 ? ',' : '';
    return `${json.slice(0, open)}"$tb":${revision}${separator}${json.slice(open)}`;
  }
  return spans.reduceRight(
    (text, span) => text.slice(0, span.start) + String(revision) + text.slice(span.end),
    json,
  );
}

function parseInt64(text: string): bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAXIMUM_INT64 && value >= -MAXIMUM_INT64 - 1n ? value : undefined;
}

function isJsonObject(json: string): boolean {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}
