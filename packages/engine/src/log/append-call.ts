import type { Duplex } from 'node:stream';
import { appendMessage, readAppendAnswer } from './append-message.ts';
import { MessageGroup } from './message-group.ts';
import type { OutgoingAppend } from './outgoing-append.ts';
import type { Appended } from './types.ts';

export interface AppendCallOptions {
  /** Opens a `BatchAppend` call. It takes groups of messages and gives lists of answers, as their bytes. */
  readonly open: () => Promise<Duplex>;
  /** The error that the bytes of a refusal stand for. */
  readonly refusal: (answer: Buffer, stream: string) => Error;
  /** The meaning of an error that ended the call. */
  readonly explain: (error: unknown) => unknown;
}

interface Pending {
  readonly stream: string;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** Numbers of appends, over all calls of the process: no answer can be taken for that to another append. */
let lastNumber = 0;

/**
 * One `BatchAppend` call, over which appends share a connection and, where they come together, a write. Each
 * append is answered once: with its place, with the server's refusal, or with the error that ended the call,
 * after which nothing is known about it.
 */
class AppendSession {
  readonly #options: AppendCallOptions;
  readonly #onEnd: () => void;
  readonly #pending = new Map<number, Pending>();
  #call: Duplex | null = null;
  #waiting: Buffer[] = [];
  #isScheduled = false;

  constructor(options: AppendCallOptions, onEnd: () => void) {
    this.#options = options;
    this.#onEnd = onEnd;
    options.open().then(
      (call) => this.#begin(call),
      (error) => this.#end(error),
    );
  }

  append(append: OutgoingAppend, milliseconds: number): Promise<Appended> {
    return new Promise((resolve, reject) => {
      lastNumber += 1;
      this.#pending.set(lastNumber, { stream: append.stream, resolve, reject });
      this.#waiting.push(appendMessage(append, lastNumber, Date.now() + milliseconds));
      this.#schedule();
    });
  }

  #begin(call: Duplex): void {
    // These listeners are never removed: an `error` without a listener would end the process.
    call
      .on('data', (answers: readonly Buffer[]) => {
        for (const bytes of answers) this.#take(bytes);
      })
      .on('error', (error) => this.#end(this.#options.explain(error)))
      .on('close', () => this.#end(new Error('the event store ended the call of appends')));
    this.#call = call;
    this.#schedule();
  }

  /** Sends what comes in one turn of the event loop in one write. */
  #schedule(): void {
    if (this.#isScheduled || !this.#call || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const messages = this.#waiting;
      this.#waiting = [];
      if (messages.length > 0) this.#call?.write(new MessageGroup(messages));
    });
  }

  #take(bytes: Buffer): void {
    const { correlation, appended } = readAppendAnswer(bytes);
    const asked = this.#pending.get(correlation);
    if (!asked) return;
    this.#pending.delete(correlation);
    if (appended) asked.resolve(appended);
    else asked.reject(this.#options.refusal(bytes, asked.stream));
  }

  #end(error: unknown): void {
    this.#onEnd();
    this.#call = null;
    this.#waiting = [];
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** Sends appends over one call at a time, which begins with the first of them and again after its end. */
export function createAppendCall(
  options: AppendCallOptions,
): (append: OutgoingAppend, milliseconds: number) => Promise<Appended> {
  let current: AppendSession | null = null;
  const begin = (): AppendSession => {
    const session: AppendSession = new AppendSession(options, () => {
      if (current === session) current = null;
    });
    return session;
  };
  return (append, milliseconds) => {
    current ??= begin();
    return current.append(append, milliseconds);
  };
}
