import { type Module, module } from '@counterfoil/engine/define';
import { documentRoutes } from './routes.ts';

export { checkDocument } from './verification.ts';

/** The documents that people read and print: invoices, credit notes and statements. */
export const documents = ({ secret }: { readonly secret: Uint8Array | null }): Module =>
  module({
    name: 'documents',
    aggregates: [],
    tables: [],
    routes: documentRoutes(secret),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type DocumentRoutes = ReturnType<typeof documentRoutes>;
