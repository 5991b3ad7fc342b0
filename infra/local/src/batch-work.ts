/**
 * The time for which a server may work before another one that waits has its turn. Long for those that come to much at once
 * and with warm caches go through it faster; short for those that have little to do, which many wait for.
 */
export type Turns = 'short' | 'long';

const nanoseconds: Readonly<Record<Turns, number>> = { short: 3_000_000, long: 12_000_000 };

/**
 * The call of Linux that gives a process its policy (3: batch work) and its turns at once, `sched_setattr`. A `chrt` that
 * knows turns is young, and perl is on every Debian. Linux before 6.12 takes the policy and leaves turns as they are.
 */
const setPolicyAndTurns = (turns: Turns): string => `perl -MPOSIX=uname -e '
  my ($pid, $slice) = @ARGV;
  my $call = {x86_64 => 314, aarch64 => 274}->{(uname)[4]} or exit 1;
  my $attributes = pack "LLQlLQQQ", 48, 3, 0, getpriority(0, $pid), 0, $slice, 0, 0;
  exit(syscall($call, $pid + 0, $attributes, 0) != 0);' $$ ${nanoseconds[turns]}`;

/**
 * The shell line by which a server, before its program begins, tells Linux that it is batch work. One that
 * wakes up then waits for its turn, in place of interrupting the one at work: at full load on few cores that
 * happened more often than once in an entry, and every interrupted one comes back to cold caches (ADR 31). For the same
 * reason turns are longer than the 1.4 ms that Linux gives on two cores. On a core that is free it begins at once as
 * before. Where there is neither perl nor `chrt` nothing changes.
 */
export const becomeBatchWork = (turns: Turns): string =>
  `{ ${setPolicyAndTurns(turns)} || chrt --batch --pid 0 $$; } >/dev/null 2>&1`;

/** The command before that of a program which is to be batch work with short turns; the program takes its place. */
export const batchLauncher: readonly string[] = [
  '/bin/sh',
  '-c',
  `${becomeBatchWork('short')}; exec "$@"`,
  'counterfoil-launcher',
];
