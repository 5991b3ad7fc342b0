import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { acquireProcessLock } from '../../bootstrap/process-lock.mjs';
import { recordedPid, settlePredecessor } from './process-record.ts';

const RECORDS = 'processes';

/**
 * Only the owner may look inside. As root, others may pass through: PostgreSQL refuses to run as root,
 * so its account has to reach its own folder in there.
 */
export const FOLDER_MODE = process.getuid?.() === 0 ? 0o711 : 0o700;

/** The folder belongs to another process that is still running. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';
  readonly pid: number;

  constructor(path: string, pid: number) {
    super(
      `The data folder ${path} is in use by process ${pid}. Stop that process, or choose another ` +
        'folder: COUNTERFOIL_DATA=/another/folder npm start',
    );
    this.pid = pid;
  }
}

export interface DataFolder {
  /** Absolute path. */
  readonly path: string;
  /**
   * Returns where the record of a process of this name goes; see `recordFile` of
   * `superviseProcess`.
   */
  recordFile(name: string): string;
  /** Lets the next process have the folder. Ending the process does the same. */
  release(): void;
}

/**
 * Creates the folder that holds everything a local installation keeps, and takes it for this process
 * alone. What a killed predecessor left running in it is stopped first.
 *
 * @param path absolute, or relative to the working folder
 * @throws {DataFolderInUseError} when a living process has it
 */
export async function dataFolder(path: string): Promise<DataFolder> {
  const absolute = resolve(path);
  mkdirSync(join(absolute, RECORDS), { recursive: true, mode: FOLDER_MODE });
  const lock = acquireProcessLock(join(absolute, 'lock'));
  if (!lock.acquired) throw new DataFolderInUseError(absolute, lock.pid);
  try {
    await Promise.all([...recordsIn(absolute).values()].map(settlePredecessor));
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    path: absolute,
    recordFile: (name) => join(absolute, RECORDS, `${name}.json`),
    release: lock.release,
  };
}

/**
 * The processes that run on a data folder, by name, with their pids: `api`, `postgres` and so on. One that
 * has ended is left out.
 *
 * @param path the data folder, absolute or relative to the working folder
 */
export function runningProcesses(path: string): ReadonlyMap<string, number> {
  return new Map(
    [...recordsIn(resolve(path))].flatMap(([name, file]) => {
      const pid = recordedPid(file);
      return pid === undefined ? [] : [[name, pid]];
    }),
  );
}

/** Applications have their records in one folder, each server has its own beside its data. */
function recordsIn(path: string): ReadonlyMap<string, string> {
  const folder = join(path, RECORDS);
  const applications = existsSync(folder) ? readdirSync(folder) : [];
  const servers = readdirSync(path)
    .map((name) => [name, join(path, name, SERVER_RECORD)] as const)
    .filter(([, file]) => existsSync(file));
  return new Map([
    ...applications
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name.slice(0, -'.json'.length), join(folder, name)] as const),
    ...servers,
  ]);
}

/** Name of the record of a server inside the folder of that server. */
export const SERVER_RECORD = 'process.json';
