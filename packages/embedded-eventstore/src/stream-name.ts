/** Rules about the names of streams and of their metadata streams. */
import type { StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import { limits } from './limits.ts';

const METADATA_PREFIX = '$$';

/** Tells whether this stream holds the metadata of another stream. */
export function isMetadataStream(name: string): boolean {
  return name.startsWith(METADATA_PREFIX);
}

/** The stream that holds the metadata of `name`. */
export function metadataStreamOf(name: string): string {
  return METADATA_PREFIX + name;
}

/** The stream whose metadata `name` holds. */
export function originalStreamOf(name: string): string {
  return name.slice(METADATA_PREFIX.length);
}

/** The fault of a stream name; undefined when it can be used. */
export function streamNameProblem(name: string): string | undefined {
  if (name === '' || name === METADATA_PREFIX) return 'a stream name must not be empty';
  if (name === '$all') return '$all is not a stream that can be written or read by name';
  // A name of the full length must leave room for the name of its metadata stream.
  const own = isMetadataStream(name) ? originalStreamOf(name) : name;
  if (Buffer.byteLength(own) > limits.streamNameBytes) {
    return `a stream name must not be longer than ${limits.streamNameBytes} bytes`;
  }
  return undefined;
}

/** The name in the part of a request that says which stream is meant; empty when there is none. */
export function requestedStream(options: {
  getStreamIdentifier(): StreamIdentifier | undefined;
}): string {
  const bytes = options.getStreamIdentifier()?.getStreamName_asU8() ?? new Uint8Array();
  return Buffer.from(bytes).toString();
}
