/**
 * A message of a worker to the runner, in between the output of the tests on the same pipe, so that
 * it is known which output belongs to which file.
 */
export type WorkerEvent =
  | { readonly event: 'begin'; readonly file: string }
  | {
      readonly event: 'end';
      readonly file: string;
      readonly passed: number;
      readonly failed: number;
      readonly skipped: number;
    }
  | { readonly event: 'finished' };

const MARK = '\u0001';
const PATTERN = new RegExp(`${MARK}([^${MARK}\\n]*)${MARK}\\n`);

/** The text that a worker prints to tell something. */
export function encodeEvent(event: WorkerEvent): string {
  return `${MARK}${JSON.stringify(event)}${MARK}\n`;
}

/**
 * Takes the first event out of received text.
 *
 * @returns the text before it, the event, and the text after it; undefined when there is none yet
 */
export function takeEvent(
  text: string,
): { before: string; event: WorkerEvent; after: string } | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  return {
    before: text.slice(0, match.index),
    event: JSON.parse(match[1] ?? ''),
    after: text.slice(match.index + match[0].length),
  };
}
