/** The sending side of one read or subscription call, with backpressure and an end. */
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { CallStatus } from './status.ts';

export interface Outlet {
  /** Sends an encoded message; false asks the sender to wait for `drained`. */
  write(message: Buffer): boolean;
  /** Resolves when more can be written or the call is over. */
  drained(): Promise<void>;
  /** Whether the client is gone or the call has ended. */
  isClosed(): boolean;
  /** Calls back once, when the call is over. */
  onClosed(callback: () => void): void;
  end(): void;
  fail(status: CallStatus): void;
}

/** Wraps a server-streaming call. */
export function createOutlet(call: ServerWritableStream<unknown, Buffer>): Outlet {
  let closed = false;
  let waiting: (() => void) | undefined;
  const closers: (() => void)[] = [];

  const release = (): void => {
    const resolve = waiting;
    waiting = undefined;
    resolve?.();
  };
  const close = (): void => {
    if (closed) return;
    closed = true;
    release();
    for (const callback of closers) callback();
  };
  call.on('drain', release);
  call.on('cancelled', close);
  call.on('close', close);

  return {
    write: (message) => closed || call.write(message),
    drained: () =>
      new Promise((resolve) => {
        if (closed || !call.writableNeedDrain) resolve();
        else waiting = resolve;
      }),
    isClosed: () => closed,
    onClosed: (callback) => {
      if (closed) callback();
      else closers.push(callback);
    },
    end: () => {
      if (closed) return;
      close();
      call.end();
    },
    fail: (status) => {
      if (closed) return;
      close();
      call.emit('error', status);
    },
  };
}
