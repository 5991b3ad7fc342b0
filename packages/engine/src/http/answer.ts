import type { Content, ContentStream } from '../define/route.ts';
import type { Position } from '../log/types.ts';

/** The marks of a run that become headers of its answer. Read when its handler is done. */
export interface RunMarks {
  /**
   * Position of the last event that this request wrote; when it wrote none, the position up to which
   * its reads show the log; null when it did neither.
   */
  readonly position: Position | null;
  /** True when the outcome is that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** The delay of the data that was read; null when it is not known to be behind. */
  readonly lagMilliseconds: number | null;
}

/** The result of a handler, as it is sent here or handed back to another process. */
export interface Rendered {
  /** The JSON of the body; null for none, or for `content`. */
  readonly text: string | null;
  /** The body that is no JSON. Only a GET has one, and no GET is handed over. */
  readonly content?: Content | ContentStream;
  /** The revision of the record that it shows; null for none. */
  readonly revision: number | null;
  /** The path of the record that was made; null for none. */
  readonly location: string | null;
}
