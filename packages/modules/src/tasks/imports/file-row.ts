/** A row of a file with the line on which it begins, counted from 1, or the fault that keeps it from being one. */
export type FileRow =
  | {
      readonly kind: 'row';
      readonly line: number;
      /** The row as JSON. Of NDJSON it is the text of the file, so that no number is rounded. */
      readonly text: string;
      readonly row: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'fault';
      readonly line: number;
      readonly error: string;
      readonly row: unknown;
    };

/** Takes a text in parts, and gives the rows that end in each. */
export interface RowReader {
  rows(part: string): Iterable<FileRow>;
  end(): Iterable<FileRow>;
}
