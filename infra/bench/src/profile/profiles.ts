import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning, runningProcesses } from '@counterfoil/local';
import { describeSummary, type Profile, summarise } from './summary.ts';

const profiler = new URL('./process-profiler.ts', import.meta.url).href;
const checkout = fileURLToPath(new URL('../../../../', import.meta.url));

/** The time for which the file of a process is waited for. */
const writingLimitMs = 30_000;
const pollMs = 20;

/** The profiles of one load, while it runs. */
export interface Recording {
  /** Ends it; writes the profiles, and a summary of each. */
  end(entries: number): Promise<void>;
}

/** The profiles of a run of the benchmark. */
export interface Profiles {
  /** The folder that they are written to. */
  readonly folder: string;
  /**
   * Starts a profile of each Node process of an installation that runs now, and of the load generator, which has to
   * be started with `generatorArguments`.
   */
  start(name: string): Recording;
  readonly generatorArguments: readonly string[];
}

const generatorFile = 'generator.cpuprofile';

/**
 * Prepares profiles: the Node processes that are started from now on can be asked for one. They are named after
 * the load and the process.
 *
 * @param folder the folder for the profiles; created when absent
 * @param installation the folder of the installation whose processes are profiled
 */
export function prepareProfiles(folder: string): (installation: string) => Profiles {
  const target = resolve(folder);
  const exchange = join(target, '.processes');
  rmSync(exchange, { recursive: true, force: true });
  mkdirSync(exchange, { recursive: true });
  process.env.BENCH_PROFILE_FOLDER = exchange;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${profiler}`.trim();
  return (installation) => ({
    folder: target,
    generatorArguments: [
      '--cpu-prof',
      '--cpu-prof-interval=500',
      `--cpu-prof-dir=${exchange}`,
      `--cpu-prof-name=${generatorFile}`,
    ],
    start: (load) => {
      const recorded = [...runningProcesses(installation)].filter(([, pid]) =>
        existsSync(join(exchange, `${pid}.listens`)),
      );
      const signal = (): void => {
        for (const [, pid] of recorded) if (isRunning(pid)) process.kill(pid, 'SIGUSR2');
      };
      signal();
      return {
        end: async (entries) => {
          signal();
          const written = recorded.map(([name, pid]) => [name, `${pid}.cpuprofile`, pid] as const);
          for (const [name, file, pid] of [
            ...written,
            ['generator', generatorFile, null] as const,
          ]) {
            const source = join(exchange, file);
            if (!(await untilWritten(source, pid))) continue;
            keep(source, join(target, `${load}-${name}`), entries);
          }
        },
      };
    },
  });
}

/** Waits for a file. False when the process that was to write it has ended, or takes too long. */
async function untilWritten(file: string, pid: number | null): Promise<boolean> {
  const deadline = performance.now() + writingLimitMs;
  while (!existsSync(file)) {
    if (pid === null || !isRunning(pid) || performance.now() > deadline) return false;
    await pause(pollMs);
  }
  return true;
}

function keep(source: string, target: string, entries: number): void {
  const profile = JSON.parse(readFileSync(source, 'utf8')) as Profile;
  const title = target.slice(target.lastIndexOf('/') + 1);
  writeFileSync(`${target}.txt`, describeSummary(title, summarise(profile, checkout), entries));
  renameSync(source, `${target}.cpuprofile`);
}
