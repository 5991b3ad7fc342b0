import { BrokenInvariant } from '@counterfoil/kernel';
import { parsePublicSubject } from '../define/subject.ts';
import type { Position } from '../log/types.ts';
import { decodeHeader, headerNames } from './message.ts';

/** A public message as readers of the stream get it. */
export interface PublicMessage {
  /** Place in the broker's stream, from 1, without gaps. */
  readonly sequence: number;
  /** Place of the event in the log; messages about one event share it. */
  readonly position: Position;
  /** The place of this message among those of its event, from 0. */
  readonly index: number;
  /** The number of messages that the event has. */
  readonly count: number;
  /** The id of the event, the same for ever, which receivers of a webhook see. */
  readonly id: string;
  readonly type: string;
  readonly tenantId: string;
  readonly environmentId: string | null;
  readonly resourceId: string;
  readonly occurredAt: string;
  /** The record's stream in the log, and the event's revision there. */
  readonly stream: string;
  readonly revision: number;
  readonly correlationId: string;
  /** Exactly the bytes that a webhook carries. */
  readonly body: Uint8Array;
  /**
   * True when the body was too long, so that the message only names the records; `ce-dataref` says
   * where it is.
   */
  readonly isTruncated: boolean;
}

/** A message as the broker hands it over. */
export interface RawMessage {
  readonly sequence: number;
  readonly subject: string;
  /** A header's value; an empty text when there is none. */
  readonly header: (name: string) => string;
  readonly body: Uint8Array;
}

/**
 * Reads a message that the relay published. Throws `ForeignMessage` on any other message:
 * nobody else may write into the stream, so going on would hide a break-in or a defect.
 */
export function readPublicMessage(raw: RawMessage): PublicMessage {
  const parts = parsePublicSubject(raw.subject);
  if (!parts) throw foreign(raw, `its subject is ${JSON.stringify(raw.subject)}`);
  const { tenantId, environmentId, type, resourceId } = parts;
  const { position, index, count } = readPlace(raw);
  return {
    sequence: raw.sequence,
    position,
    index,
    count,
    id: required(raw, headerNames.id),
    type,
    tenantId,
    environmentId,
    resourceId,
    occurredAt: required(raw, headerNames.time),
    stream: decodeHeader(required(raw, headerNames.stream)),
    revision: wholeNumber(raw, headerNames.revision),
    correlationId: decodeHeader(raw.header(headerNames.correlation)),
    body: raw.body,
    isTruncated: raw.header(headerNames.dataReference) !== '',
  };
}

/** The place in the log that a message of the stream comes from. */
export interface MessagePlace {
  readonly position: Position;
  readonly index: number;
  readonly count: number;
  readonly stream: string;
  readonly revision: number;
}

/** The place alone, from which the relay continues. Throws as `readPublicMessage` does. */
export function readPlace(raw: Omit<RawMessage, 'body'>): MessagePlace {
  const position = required(raw, headerNames.position);
  if (!/^\d{1,20}$/.test(position)) throw foreign(raw, `its position is ${position}`);
  return {
    position: BigInt(position),
    index: wholeNumber(raw, headerNames.index),
    count: wholeNumber(raw, headerNames.count),
    stream: decodeHeader(required(raw, headerNames.stream)),
    revision: wholeNumber(raw, headerNames.revision),
  };
}

type Headed = Pick<RawMessage, 'sequence' | 'header'>;

function required(raw: Headed, name: string): string {
  const value = raw.header(name);
  if (value === '') throw foreign(raw, `it has no ${name}`);
  return value;
}

function wholeNumber(raw: Headed, name: string): number {
  const value = required(raw, name);
  if (!/^\d{1,15}$/.test(value)) throw foreign(raw, `its ${name} is ${JSON.stringify(value)}`);
  return Number(value);
}

/** A message of the public stream that the relay did not publish. */
export class ForeignMessage extends BrokenInvariant {
  override readonly name = 'ForeignMessage';
}

const foreign = ({ sequence }: Headed, why: string): ForeignMessage =>
  new ForeignMessage(`message ${sequence} of the public stream is not the relay's: ${why}`);
