import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Destination, StorageFailed } from './destination.ts';

/** A new file, on disk before it is done. */
const durably = { flag: 'wx', flags: 'wx', flush: true } as const;

interface FolderPlace {
  /** The folder that the operator has given exports. */
  readonly root: string;
  readonly tenantId: string;
  readonly environmentId: string;
  readonly bucket: string;
}

/** A folder of the machine: below that of the operator one for each tenant, environment and bucket. */
export function folderDestination(place: FolderPlace): Destination {
  const { root, tenantId, environmentId, bucket } = place;
  const folder = join(root, tenantId, environmentId, bucket);
  const pathOf = (key: string): string => join(folder, key);

  /** Lets a file be seen under its name once it is whole and on disk. */
  const put = async (
    key: string,
    write: (path: string) => Promise<void>,
    show: (unfinished: string, path: string) => Promise<void>,
  ): Promise<boolean> => {
    const path = pathOf(key);
    const unfinished = join(dirname(path), `.${basename(path)}.${randomUUID()}.part`);
    try {
      await mkdir(dirname(path), { recursive: true });
      await write(unfinished);
      await show(unfinished, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw isOfSystem(error) ? failed(error) : error;
    } finally {
      await rm(unfinished, { force: true });
    }
  };

  return {
    read: async (key) => {
      try {
        return await readFile(pathOf(key), 'utf8');
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return null;
        throw failed(error);
      }
    },
    write: async (key, body) => {
      const fill = (path: string) => pipeline(body, createWriteStream(path, durably));
      await put(key, fill, rename);
    },
    removeUnfinished: async (prefix, isChosen) => {
      const within = dirname(prefix);
      for (const name of await namesIn(pathOf(within))) {
        const [, of] = unfinishedName.exec(name) ?? [];
        const key = of === undefined ? null : join(within, of);
        if (key?.startsWith(prefix) && isChosen(key))
          await rm(join(pathOf(within), name), { force: true });
      }
    },
    // Whoever was first keeps the name.
    create: (key, text) => put(key, (path) => writeFile(path, text, durably), link),
    close: () => undefined,
  };
}

/** The name of a file that is being written, with the one that it is to have. */
const unfinishedName = /^\.(.+)\.[0-9a-f-]{36}\.part$/;

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw failed(error);
  }
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

const isOfSystem = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).syscall !== undefined;

const failed = (error: unknown): StorageFailed =>
  new StorageFailed(`The folder cannot be used: ${String(codeOf(error))}.`, false, error);
