/** Advice on who should decide on a stream; never a condition of being right. */
export interface Ownership {
  /**
   * The other process to which requests about a stream are better handed over; null when they are decided
   * here: the stream is not contended, or belongs here.
   */
  ownerElsewhere(stream: string): string | null;
  /** An append to the stream was lost: another writer was faster. */
  lost(stream: string): void;
}

/** A stream, and the process that it belongs to. */
export interface OwnedPlace {
  readonly stream: string;
  readonly owner: string;
}

/**
 * Thrown by a command that is better decided elsewhere, before anything of its request was written. It
 * passes through the handler, which is run again wherever the request is then decided.
 */
export class OwnedElsewhere extends Error implements OwnedPlace {
  override readonly name = 'OwnedElsewhere';
  readonly stream: string;
  readonly owner: string;
  constructor(stream: string, owner: string) {
    super(`${stream} belongs to ${owner}`);
    this.stream = stream;
    this.owner = owner;
  }
}
