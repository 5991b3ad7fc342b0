import { frameHeaderBytes } from './message-group.ts';

/** The header of a group: that of a message which is not compressed, and of no length, since it is taken off unread. */
const groupHeader = Buffer.alloc(frameHeaderBytes);

/** The part of grpc-js that takes the messages of a call out of what arrives: each whole one, with its header. */
interface Decoder {
  write(data: Buffer): Buffer[];
}

/** A connection of grpc-js, as far as calls are opened on it. */
interface Connection {
  getRealSubchannel(): Connection;
  createCall(metadata: unknown, host: unknown, path: string, ...more: unknown[]): CallOfConnection;
}

interface CallOfConnection {
  readonly decoder: Decoder;
}

/** The part of a channel of grpc-js that chooses the connection of a call. */
export interface ChoosingChannel {
  doPick(...given: unknown[]): { readonly subchannel: Connection | null };
}

/**
 * Lets the messages of some calls of a channel that arrive together go through grpc-js as one, a group: the way back of
 * `MessageGroup`. grpc-js takes each message through two dozen functions, three promises and a stop of the
 * connection, which costs more than all that we do with it. It takes the header off a group, as off a
 * message, and `messagesIn` takes that apart.
 *
 * Such a call must be opened with a function that reads groups. The channel's other calls are as they were.
 */
export function groupIncoming(
  channel: ChoosingChannel,
  isGrouped: (path: string) => boolean,
): void {
  const pick = channel.doPick.bind(channel);
  channel.doPick = (...given) => {
    const picked = pick(...given);
    const { subchannel } = picked;
    return subchannel ? { ...picked, subchannel: grouping(subchannel, isGrouped) } : picked;
  };
}

/** A connection whose calls bring groups. Other channels may share the connection itself, so that is left as it is. */
function grouping(connection: Connection, isGrouped: (path: string) => boolean): Connection {
  const real = connection.getRealSubchannel();
  const createCall: Connection['createCall'] = (metadata, host, path, ...more) => {
    const call = real.createCall(metadata, host, path, ...more);
    if (isGrouped(path)) groupMessages(call.decoder);
    return call;
  };
  const own = Object.create(real, { createCall: { value: createCall } });
  return Object.create(connection, { getRealSubchannel: { value: () => own } });
}

function groupMessages(decoder: Decoder): void {
  const decode = decoder.write.bind(decoder);
  decoder.write = (data) => {
    const messages = decode(data);
    // One that is compressed is for grpc-js to read.
    const isGroup = messages.length > 1 && messages.every((message) => message[0] === 0);
    return isGroup ? [Buffer.concat([groupHeader, ...messages])] : messages;
  };
}

/**
 * The messages of a group, or the one message that came alone: none begins with a zero byte, because no field has the
 * number 0, and each message of a group does, with its header.
 */
export function messagesIn(bytes: Buffer): readonly Buffer[] {
  if (bytes[0] !== 0) return [bytes];
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const begin = at + frameHeaderBytes;
    at = begin + bytes.readUInt32BE(at + 1);
    messages.push(bytes.subarray(begin, at));
  }
  return messages;
}
