import { documentsOf } from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import { describedApi } from './info.ts';

/** The documents of the API as JSON, by path. */
export type Documents = Readonly<Record<string, string>>;

// The program of `documentWriter`: prints the documents, and needs no server and no settings for that.
const made = Object.entries(documentsOf(describedApi(modules({ secrets: null }))));
const documents: Documents = Object.fromEntries(
  made.map(([path, document]) => [path, JSON.stringify(document())]),
);
process.stdout.write(JSON.stringify(documents));
