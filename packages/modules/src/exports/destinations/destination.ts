import type { Readable } from 'node:stream';

/** A place for the files of an export. */
export interface Destination {
  /** The text of a small object; null where there is none. */
  read(key: string): Promise<string | null>;
  /** Writes an object from a stream. Where the stream or the storage fails nothing is there, nor any part of it. */
  write(key: string, body: Readable, mediaType: string): Promise<void>;
  /** Takes away what is left of writes that broke off, of those keys with a beginning that are chosen. */
  removeUnfinished(prefix: string, isChosen: (key: string) => boolean): Promise<void>;
  /** Writes a small object unless there is one. False where there is. */
  create(key: string, text: string): Promise<boolean>;
  close(): void;
}

/**
 * A storage that did not take or give what it was asked for. The message is for whoever has the task: it tells nothing of
 * credentials, nor of addresses inside.
 */
export class StorageFailed extends Error {
  override readonly name = 'StorageFailed';
  /** True where another attempt cannot succeed before somebody has changed something. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean, cause?: unknown) {
    super(message, { cause });
    this.isFinal = isFinal;
  }
}
