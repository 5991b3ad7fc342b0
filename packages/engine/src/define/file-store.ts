/** A file of an environment, by a name that its owner chooses. */
export interface FileName {
  readonly environmentId: string;
  readonly name: string;
}

/** A file as far as it is there. */
export interface FileState {
  /** Known to those who may add to it. */
  readonly mark: string;
  readonly bytes: number;
}

/** The files of an environment are as large as they may be together. */
export class FilesFull extends Error {
  override readonly name = 'FilesFull';
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`The files of this environment may have ${limitBytes} bytes together.`);
    this.limitBytes = limitBytes;
  }
}

/**
 * Files that are too large for the log, in pieces. Whoever adds to one has to know its mark: who has begun the file
 * anew, or taken it over, shuts out those who were at it before. Every method throws `Problem` 503 while the store
 * cannot be reached.
 */
export interface FileStore {
  /**
   * Begins a file under a mark. Of one that is there so many bytes stay, to which its pieces have to come up exactly.
   * Gives the bytes that are there: fewer, where they were lost.
   */
  begin(file: FileName, mark: string, keptBytes?: number): Promise<number>;
  /** Null when there is no such file. */
  stateOf(file: FileName): Promise<FileState | null>;
  /**
   * Adds a piece behind so many bytes. False, and nothing, where the file has another mark or another size. Throws `FilesFull`
   * where the files of the environment would become too large together.
   */
  add(file: FileName, mark: string, behindBytes: number, piece: Uint8Array): Promise<boolean>;
  /** The pieces in their order; none of a file that is not there. */
  read(file: FileName): AsyncIterable<Uint8Array>;
  remove(file: FileName): Promise<void>;
}
