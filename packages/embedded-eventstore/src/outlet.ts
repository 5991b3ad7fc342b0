/** The sending side of one read or subscription call, with backpressure and an end. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { limits } from './limits.ts';
import type { CallStatus } from './status.ts';

/** The sending side of a call. */
export interface Outlet {
  /** Adds an encoded message to the next flush. */
  push(message: Buffer): void;
  /** Tells whether so much waits that it should be flushed before more is added. */
  isFull(): boolean;
  /** Sends the waiting messages; resolves when the client can take more or the call is over. */
  flush(): Promise<void>;
  /** Tells whether the client is gone or the call has ended. */
  isClosed(): boolean;
  /** Calls back once, when the call is over. */
  onClosed(callback: () => void): void;
  /** Sends the waiting messages and ends the call as completed. */
  end(): void;
  /** Sends the waiting messages and ends the call with a status. */
  fail(status: CallStatus): void;
}

/** Wraps a server-streaming call. */
export function createOutlet(call: ServerWritableStream<unknown, FramedMessages>): Outlet {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let closed = false;
  let resume: (() => void) | undefined;
  const closers: (() => void)[] = [];

  const release = (): void => {
    const resolve = resume;
    resume = undefined;
    resolve?.();
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    release();
    for (const callback of closers) callback();
  };
  const send = (): boolean => {
    if (closed || waiting.length === 0) return true;
    const messages = waiting;
    waiting = [];
    waitingBytes = 0;
    return call.write(groupMessages(messages));
  };
  call.on('drain', release);
  call.on('cancelled', close);
  call.on('close', close);

  return {
    push: (message) => {
      waiting.push(message);
      waitingBytes += message.length;
    },
    isFull: () => waitingBytes >= limits.sendBytes,
    flush: async () => {
      if (send() || closed) return;
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
    },
    isClosed: () => closed,
    onClosed: (callback) => {
      if (closed) callback();
      else closers.push(callback);
    },
    end: () => {
      send();
      if (closed) return;
      close();
      call.end();
    },
    fail: (status) => {
      send();
      if (closed) return;
      close();
      call.emit('error', status);
    },
  };
}

/** Length of a gRPC frame header: a zero byte (not compressed) and the message length. */
const FRAME_HEADER_BYTES = 5;

/** The part of a Buffer that grpc-js needs of a serialised message. */
export interface FramedMessages {
  readonly byteLength: number;
  copy(target: Buffer, offset: number): number;
}

/**
 * Several gRPC messages in one write. grpc-js hands every message to HTTP/2 by itself, and that
 * costs far more than copying an event that is encoded already. This object stands in for the
 * bytes of a message where grpc-js frames them: it asks for `byteLength`, allocates that plus the
 * five bytes of a frame header, writes the header of one message and lets the message copy itself
 * in. A group takes that chance to write all its messages, each with its own header.
 *
 * There must be at least one message.
 */
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
