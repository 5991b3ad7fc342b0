import type { IncomingHttpHeaders } from 'node:http';
import { invalidField, Problem } from '@counterfoil/kernel';
import type { Position } from '../log/types.ts';
import { invalidRequest } from './parse.ts';

/** The characters of ids and keys that callers choose. */
export const visibleAscii = /^[\x21-\x7e]+$/;

/** The most characters of an idempotency key, in the header or in the body. */
export const idempotencyKeyLimit = 255;
export const requestIdLimit = 128;

/** The 400 for a wrong header. */
const invalidHeader = (name: string, message: string): Problem =>
  invalidRequest([{ pointer: `/${name}`, message }], 'header');

/**
 * The request id that the caller chose; null when absent. The `Problem` of one that is not up to 128 visible
 * ASCII characters is returned, so that the answer to it can have an id.
 */
export function givenRequestId(headers: IncomingHttpHeaders): string | Problem | null {
  const value = headers['x-request-id'];
  if (value === undefined) return null;
  const isUsable =
    typeof value === 'string' && value.length <= requestIdLimit && visibleAscii.test(value);
  if (isUsable) return value;
  return invalidHeader('X-Request-Id', `must be 1 to ${requestIdLimit} visible ASCII characters`);
}

/** The `Idempotency-Key` header; null when absent. Throws a 400 `Problem` when it is malformed. */
function idempotencyHeader(headers: IncomingHttpHeaders): string | null {
  const value = headers['idempotency-key'];
  if (value === undefined) return null;
  if (
    typeof value !== 'string' ||
    value.length > idempotencyKeyLimit ||
    !visibleAscii.test(value)
  ) {
    const message = `must be 1 to ${idempotencyKeyLimit} visible ASCII characters, given once`;
    throw invalidHeader('Idempotency-Key', message);
  }
  return value;
}

/** The key in a field of a parsed body; null when its schema has none or it is empty. */
function keyInField(body: unknown, field: string): string | null {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, field)) return null;
  const value = (body as Readonly<Record<string, unknown>>)[field];
  if (typeof value !== 'string' || value === '') return null;
  if (value.length <= idempotencyKeyLimit) return value;
  throw invalidField(`/${field}`, `must have at most ${idempotencyKeyLimit} characters`);
}

/**
 * The idempotency key of a request: header and body field are one mechanism, so both may be given
 * only when they agree. Throws a 400 `Problem` otherwise.
 *
 * @param field the name of the body field
 */
export function idempotencyKeyOf(
  headers: IncomingHttpHeaders,
  body: unknown,
  field = 'idempotency_key',
): string | null {
  const header = idempotencyHeader(headers);
  const given = keyInField(body, field);
  if (header !== null && given !== null && header !== given) {
    const message = 'must equal the Idempotency-Key header; send only one of the two';
    throw invalidField(`/${field}`, message);
  }
  return header ?? given;
}

/** The most characters of `If-Match`. */
export const ifMatchLimit = 64;

/** The form of `If-Match`: one ETag, or any. */
export const ifMatchText = /^(?:\*|(?:W\/)?"[\x21\x23-\x7e]*")$/;
const strongTag = /^"([\x21\x23-\x7e]*)"$/;
const weakTag = /^W\/"[\x21\x23-\x7e]*"$/;
/** A revision, with or without the digest of the body that it was answered with, however coded. */
const digestText = /^[\w-]{16}(?:\.(?:br|gzip))?$/;
const revisionText = /^(0|[1-9]\d{0,14})(?:-[\w-]{16}(?:\.(?:br|gzip))?)?$/;

/**
 * The revision that `If-Match` asks for; null when absent or `*`, which any record fulfils. The tag of an
 * answer that shows no revision is 400, because no repetition would help (D39). Any other tag that no
 * revision can have, a weak one included, is 412 at once; any other text is 400.
 */
export function ifMatchOf(headers: IncomingHttpHeaders): number | null {
  const value = headers['if-match']?.trim();
  if (value === undefined || value === '*') return null;
  const isShort = value.length <= ifMatchLimit;
  const [, tag] = (isShort && strongTag.exec(value)) || [];
  const [, revision] = revisionText.exec(tag ?? '') ?? [];
  if (revision !== undefined) return Number(revision);
  if (tag !== undefined && digestText.test(tag)) {
    throw invalidHeader(
      'If-Match',
      'is the ETag of an answer without a revision: only ETags that begin with one, such as "5-3qW8x2Lk_0aZr7Qe", can be matched',
    );
  }
  if (tag === undefined && !(isShort && weakTag.test(value))) {
    throw invalidHeader(
      'If-Match',
      'must be one ETag as it was answered, such as "5-3qW8x2Lk_0aZr7Qe", or *',
    );
  }
  throw new Problem(
    'precondition_failed',
    `If-Match ${value} names no revision. Read the record again and send its ETag.`,
  );
}

/** Tells whether `If-None-Match` names a tag, compared weakly, as a GET does. */
export function noneMatch(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((part) => {
    const candidate = part.trim();
    return candidate === '*' || candidate === tag || candidate === `W/${tag}`;
  });
}

/** The form of a position in a header. */
export const positionText = /^\d{1,20}$/;
const maximumPosition = 2n ** 64n - 1n;

/** The position in `Counterfoil-Min-Position`; null when absent. 400 when it is no position. */
export function minimumPositionOf(headers: IncomingHttpHeaders): Position | null {
  const value = headers['counterfoil-min-position'];
  if (value === undefined) return null;
  const position =
    typeof value === 'string' && positionText.test(value) ? BigInt(value) : maximumPosition + 1n;
  if (position <= maximumPosition) return position;
  const message = 'must be the Counterfoil-Position of an earlier answer';
  throw invalidHeader('Counterfoil-Min-Position', message);
}

const lenientHandling = /(?:^|,)\s*handling\s*=\s*"?lenient"?\s*(?:[,;]|$)/i;

/** Tells whether the caller wants names that nobody knows to be ignored (RFC 7240). */
export const prefersLenient = (headers: IncomingHttpHeaders): boolean => {
  const { prefer } = headers;
  return prefer !== undefined && lenientHandling.test([prefer].flat().join(','));
};

/** The value of `Counterfoil-Ignored`: JSON pointers, percent-encoded as in URI fragments (RFC 6901). */
export const ignoredNames = (pointers: readonly string[]): string =>
  pointers
    .map((pointer) => encodeURI(pointer.slice(0, 128).toWellFormed()).replaceAll(',', '%2C'))
    .join(', ');

/** Tells whether the request has a body, by its headers. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0');

const jsonType = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*"?utf-?8"?[ \t]*)?;?$/i;

/** Tells whether a Content-Type is JSON in UTF-8. */
export const isJson = (contentType: string | undefined): boolean =>
  contentType === 'application/json' ||
  (contentType !== undefined && contentType.length < 128 && jsonType.test(contentType.trim()));
