/** Length of a gRPC frame header: a zero byte (not compressed) and the length of the message. */
export const frameHeaderBytes = 5;

/**
 * Several gRPC messages in one write: grpc-js takes each message through a dozen promises and hands it to HTTP/2
 * by itself, which costs more than the message. This stands in for the bytes of a message where grpc-js frames
 * them: it asks for a length, allocates that plus the five bytes of a header, writes the header of one
 * message and lets the message copy itself in. A group takes that chance to write all its messages, each with
 * a header of its own. There must be at least one.
 */
export class MessageGroup {
  readonly length: number;
  readonly #messages: readonly Buffer[];

  constructor(messages: readonly Buffer[]) {
    this.#messages = messages;
    this.length = -frameHeaderBytes;
    for (const message of messages) this.length += frameHeaderBytes + message.length;
  }

  copy(target: Buffer, offset: number): number {
    // Anything else means that grpc-js frames in another way now, and the bytes would be garbage.
    if (target.length !== this.length + frameHeaderBytes || offset !== frameHeaderBytes) {
      throw new Error('grpc-js no longer frames messages as expected');
    }
    let at = 0;
    for (const message of this.#messages) {
      target[at] = 0;
      target.writeUInt32BE(message.length, at + 1);
      at += frameHeaderBytes;
      at += message.copy(target, at);
    }
    return this.length;
  }
}
