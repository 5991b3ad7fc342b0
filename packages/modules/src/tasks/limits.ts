/** The bounds of imports. */
export const importLimits = {
  /** Bytes of a file. */
  fileBytes: 512 * 1024 * 1024,
  /** Bytes of all files and bad rows that are kept for an environment. */
  keptBytes: 4 * 1024 * 1024 * 1024,
  /** Bytes of a piece in which a file is kept. */
  pieceBytes: 1024 * 1024,
  /** Bytes that the bad rows of an import take, before it is given up. */
  badBytes: 128 * 1024 * 1024,
  /** Imports of an environment that wait or run. */
  open: 20,
  /** Rows between two notes of progress. */
  portion: 500,
  /** Events between two notes of progress, and of one bulk; and characters of a bulk. */
  eventPortion: 2_000,
  bulkEvents: 1_000,
  bulkCharacters: 8 * 1024 * 1024,
  /** Rows that are carried out at once. */
  atOnce: 64,
  /** Attempts on a row for which the service has no answer, before it counts as bad. */
  attempts: 5,
} as const;
