import { parentPort } from 'node:worker_threads';
import { documentsOf } from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import { describedApi } from './info.ts';

/** The documents of the API as JSON, by path. */
export type Documents = Readonly<Record<string, string>>;

const made = Object.entries(documentsOf(describedApi(modules({ secrets: null }))));
const documents: Documents = Object.fromEntries(
  made.map(([path, document]) => [path, JSON.stringify(document())]),
);
parentPort?.postMessage(documents);
