import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** Milliseconds until 4 KiB are on the disk. */
export interface FlushTime {
  readonly p50: number;
  readonly p99: number;
}

const flushes = 200;
const page = Buffer.alloc(4_096, 1);

/**
 * The time that this machine's disk takes to make a write durable. Every figure of a durable service
 * depends on it, so a figure without it says little.
 *
 * @param folder a folder on the disk that the servers use
 */
export function flushTime(folder: string): FlushTime {
  const file = join(folder, 'flush-time');
  const descriptor = openSync(file, 'w');
  try {
    const times = Array.from({ length: flushes }, () => {
      const startedAt = performance.now();
      writeSync(descriptor, page);
      fdatasyncSync(descriptor);
      return performance.now() - startedAt;
    }).sort((left, right) => left - right);
    return { p50: times[flushes / 2] ?? 0, p99: times[Math.floor(flushes * 0.99)] ?? 0 };
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}
