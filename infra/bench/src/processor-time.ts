import { readFileSync } from 'node:fs';
import { runningProcesses } from '@counterfoil/local';

/** Processor time of each process of an installation, by name. */
export type ProcessorTime = Readonly<Record<string, number>>;

/** Ticks of /proc per second; the kernel has told programs 100 on every platform for decades. */
const ticksPerSecond = 100;

/** Seconds used so far, from /proc, children included that have ended; zero where there is no /proc. */
export const processorTime = (folder: string): ProcessorTime =>
  Object.fromEntries([...runningProcesses(folder)].map(([name, pid]) => [name, secondsOf(pid)]));

/** A server such as PostgreSQL works in children, so they count with it. */
function secondsOf(pid: number): number {
  const own = statOf(pid);
  if (!own) return 0;
  return childrenOf(pid).reduce((sum, child) => sum + secondsOf(child), own);
}

/** The text of a file of /proc; null where there is none, or its process has just ended. */
function textIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function statOf(pid: number): number | null {
  const text = textIn(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text.split(') ')[1]?.split(' ') ?? [];
  const ticks = [11, 12, 13, 14].reduce((sum, place) => sum + Number(fields[place] ?? 0), 0);
  return ticks / ticksPerSecond;
}

function childrenOf(pid: number): number[] {
  const text = textIn(`/proc/${pid}/task/${pid}/children`) ?? '';
  return text.trim().split(' ').filter(Boolean).map(Number);
}

/** Milliseconds of processor time per 1,000 entries, by process, the largest first. */
export const spentPerThousand = (
  before: ProcessorTime,
  after: ProcessorTime,
  entries: number,
): ProcessorTime =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, seconds]) => [name, (seconds - (before[name] ?? 0)) * 1_000] as const)
      .sort(([, left], [, right]) => right - left)
      .map(([name, spent]) => [name, (spent * 1_000) / Math.max(1, entries)]),
  );
