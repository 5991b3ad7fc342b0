import { once as first } from 'node:events';
import { Worker } from 'node:worker_threads';
import { onceDone } from '@counterfoil/engine';
import { BrokenInvariant } from '@counterfoil/kernel';
import type { Documents } from './document-thread.ts';

/**
 * Writes the documents of the API, by path, in a thread that begins when one is first asked for and ends when all are
 * written. They take some seconds of a processor: before the process accepts requests these would be a time without
 * service, and in the thread of the requests these would wait. Rejects when the thread fails.
 */
export function documentWriter(): (path: string) => Promise<string> {
  const write = onceDone(async () => {
    const thread = new Worker(new URL('./document-thread.ts', import.meta.url));
    // A process that ends does not wait for it.
    thread.unref();
    const [documents] = await first(thread, 'message');
    return documents as Documents;
  });
  return async (path) => {
    const text = (await write())[path];
    if (text === undefined) throw new BrokenInvariant(`no document has the path ${path}`);
    return text;
  };
}
