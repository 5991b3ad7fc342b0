import { closeSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

/** A log shared by several writers of this process. */
export interface LogFile {
  /** Absolute path of the file that is written now; the one before it ends in `.1`. */
  readonly path: string;
  /** Appends one line, marked with the name of its writer. */
  write(name: string, line: string): void;
  close(): void;
}

/**
 * Opens a log for appending. When it has grown to the limit it is set aside, replacing the one that
 * was set aside before, so the two together never take much more than twice the limit.
 *
 * @param path absolute; its folder must exist
 */
export function openLogFile(path: string, limitBytes = 16 * 1024 * 1024): LogFile {
  let descriptor = openSync(path, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  let isOpen = true;

  const setAside = (): void => {
    closeSync(descriptor);
    rmSync(`${path}.1`, { force: true });
    renameSync(path, `${path}.1`);
    descriptor = openSync(path, 'a', 0o600);
    size = 0;
  };

  return {
    path,
    // Written at once rather than through a stream: what a process said before it died must be there.
    write: (name, line) => {
      if (!isOpen) return;
      if (size >= limitBytes) setAside();
      size += writeSync(descriptor, `${name} | ${line}\n`);
    },
    close: () => {
      if (isOpen) closeSync(descriptor);
      isOpen = false;
    },
  };
}
