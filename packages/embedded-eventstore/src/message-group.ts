/**
 * Several gRPC messages in one write. grpc-js hands every message to HTTP/2 by itself, and that
 * costs far more than copying an event that is encoded already. This object stands in for the
 * bytes of a message where grpc-js frames them: it asks for `byteLength`, allocates that plus the
 * five bytes of a frame header, writes the header of one message and lets the message copy itself
 * in. A group takes that chance to write all its messages, each with its own header.
 */

/** Length of a gRPC frame header: a zero byte (not compressed) and the message length. */
const FRAME_HEADER_BYTES = 5;

/** The part of a Buffer that grpc-js needs of a serialised message. */
export interface FramedMessages {
  readonly byteLength: number;
  copy(target: Buffer, offset: number): number;
}

/** Combines encoded messages, of which there must be at least one. */
export function groupMessages(messages: readonly Buffer[]): FramedMessages {
  let size = 0;
  for (const message of messages) size += FRAME_HEADER_BYTES + message.length;
  return {
    byteLength: size - FRAME_HEADER_BYTES,
    copy: (target, offset) => {
      // Anything else means that grpc-js frames in another way now, and the bytes would be garbage.
      if (target.length !== size || offset !== FRAME_HEADER_BYTES) {
        throw new Error('grpc-js no longer frames messages as expected');
      }
      let at = 0;
      for (const message of messages) {
        target[at] = 0;
        target.writeUInt32BE(message.length, at + 1);
        at += FRAME_HEADER_BYTES;
        at += message.copy(target, at);
      }
      return size - FRAME_HEADER_BYTES;
    },
  };
}
