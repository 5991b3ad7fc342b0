import { writeSync } from 'node:fs';

const WAIT_MS = 2;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all of a text to an open file at once, also when that is a pipe whose reader is behind: Node sets the pipe of a standard
 * output to not block, and the plain call then takes a part of the text, or throws EAGAIN.
 *
 * @param fd 1 for standard output
 * @param write takes what it can and returns how many bytes that was
 */
export function writeWhole(
  fd: number,
  text: string,
  write: (fd: number, bytes: Uint8Array) => number = writeSync,
): void {
  let left: Uint8Array = Buffer.from(text);
  while (left.length > 0) {
    try {
      left = left.subarray(write(fd, left));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
      // Nothing else may happen in between, so the thread waits for the reader.
      Atomics.wait(neverWoken, 0, 0, WAIT_MS);
    }
  }
}
