/** The lock, or the pid of the living process that holds it. */
export type ProcessLock =
  | { readonly acquired: true; readonly release: () => void }
  | { readonly acquired: false; readonly pid: number };

/** Takes a lock file for as long as this process lives; see process-lock.mjs. */
export function acquireProcessLock(file: string): ProcessLock;
