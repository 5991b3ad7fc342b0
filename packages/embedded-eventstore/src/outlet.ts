/** The sending side of one read or subscription call, with backpressure and an end. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import { limits } from './limits.ts';
import { type FramedMessages, groupMessages } from './message-group.ts';
import type { CallStatus } from './status.ts';

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
