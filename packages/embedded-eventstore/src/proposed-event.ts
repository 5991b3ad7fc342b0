/** Checks the proposals of clients before anything is decided about them. */
import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import type { ProposedEvent } from './record.ts';

/** A proposed message of either append call; both generated classes have this shape. */
export interface ProposedMessage {
  getId(): UUID | undefined;
  getMetadataMap(): { get(key: string): string | undefined };
  getCustomMetadata_asU8(): Uint8Array;
  getData_asU8(): Uint8Array;
}

/** The reason why a proposed event cannot be written. */
export type ProposalProblem =
  | { readonly kind: 'missing-property' }
  | { readonly kind: 'bad-request'; readonly message: string };

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const EMPTY_UUID = '00000000-0000-0000-0000-000000000000';

/** The lower-case text form of either wire form of a UUID; undefined when it is not one. */
export function uuidText(uuid: UUID | undefined): string | undefined {
  const structured = uuid?.getStructured();
  if (structured === undefined) return uuid && checkedUuid(uuid.getString());
  return structuredUuid(
    BigInt(structured.getMostSignificantBits()),
    BigInt(structured.getLeastSignificantBits()),
  );
}

/** A text as a lower-case UUID; undefined when it is none. */
export function checkedUuid(text: string): string | undefined {
  const lower = text.toLowerCase();
  return UUID_PATTERN.test(lower) ? lower : undefined;
}

/** The UUID of these halves as a lower-case text. */
export function structuredUuid(most: bigint, least: bigint): string {
  const hex = halfText(most) + halfText(least);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}

function halfText(half: bigint): string {
  return BigInt.asUintN(64, half).toString(16).padStart(16, '0');
}

/** The parts of a proposed event as a client sent them. */
export interface ProposalParts {
  id: string | undefined;
  type: string | undefined;
  contentType: string | undefined;
  data: Uint8Array;
  metadata: Uint8Array;
}

/** Reads one proposed message, or names the reason why it cannot be written. */
export function readProposal(message: ProposedMessage): ProposedEvent | ProposalProblem {
  const map = message.getMetadataMap();
  return proposalOf({
    id: uuidText(message.getId()),
    type: map.get('type'),
    contentType: map.get('content-type'),
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  });
}

/** The event that parts make, or the reason why it cannot be written. */
export function proposalOf(parts: ProposalParts): ProposedEvent | ProposalProblem {
  const { id, type, contentType, data, metadata } = parts;
  if (type === undefined || contentType === undefined) return { kind: 'missing-property' };
  if (id === undefined || id === EMPTY_UUID) return badRequest('an event id must be a UUID');
  if (type === '') return badRequest('an event type must not be empty');
  if (Buffer.byteLength(type) > limits.eventTypeBytes) {
    return badRequest(`an event type must not be longer than ${limits.eventTypeBytes} bytes`);
  }
  return { id, type, isJson: contentType === 'application/json', data, metadata };
}

function badRequest(message: string): ProposalProblem {
  return { kind: 'bad-request', message };
}

/** The bytes that an event counts towards the maximum size of an append. */
export function appendSizeOf(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length;
}

/** The part that the options of all writing calls share. */
export interface ExpectationSource {
  hasNoStream(): boolean;
  hasAny(): boolean;
  hasStreamExists(): boolean;
}

const LARGEST_INT64 = 2n ** 63n - 1n;

/** The expected revision of a request; undefined when there is none or it is out of range. */
export function expectationOf(
  source: ExpectationSource,
  exact: string | undefined,
): ExpectedRevision | undefined {
  if (source.hasNoStream()) return 'no_stream';
  if (source.hasAny()) return 'any';
  if (source.hasStreamExists()) return 'stream_exists';
  if (exact === undefined) return undefined;
  return exactRevision(BigInt(exact));
}

/** An exact revision; undefined for one that no stream can have. */
export function exactRevision(revision: bigint): bigint | undefined {
  return revision <= LARGEST_INT64 ? revision : undefined;
}
