import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
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
    const unfinished = join(dirname(path), `.${randomUUID()}.part`);
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
    // A file without a manifest is left of an attempt that broke off, and nobody's: it is replaced.
    write: async (key, body) => {
      const fill = (path: string) => pipeline(body, createWriteStream(path, durably));
      await put(key, fill, rename);
    },
    // Whoever was first keeps the name.
    create: (key, text) => put(key, (path) => writeFile(path, text, durably), link),
    close: () => undefined,
  };
}

const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;

const isOfSystem = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).syscall !== undefined;

const failed = (error: unknown): StorageFailed =>
  new StorageFailed(`The folder cannot be used: ${String(codeOf(error))}.`, false, error);
