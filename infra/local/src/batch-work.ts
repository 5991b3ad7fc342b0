/**
 * The shell line by which a server, before its program begins, tells Linux that it is batch work. One that
 * wakes up then waits for its turn, in place of interrupting the one at work: at full load on few cores that
 * happened more often than once in an entry, and every interrupted one comes back to cold caches (ADR 31). On a
 * core that is free it begins at once as before. Where there is no `chrt` nothing changes.
 */
export const becomeBatchWork = 'chrt --batch --pid 0 $$ >/dev/null 2>&1';

/** The command before that of a program which is to be batch work; the program takes its place. */
export const batchLauncher: readonly string[] = [
  '/bin/sh',
  '-c',
  `${becomeBatchWork}; exec "$@"`,
  'counterfoil-launcher',
];
