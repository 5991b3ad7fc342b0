import type { HttpOptions } from './host.ts';
import { openApiDocument } from './openapi.ts';
import { placeRoutes } from './routing.ts';

/** An API as its documents say it: nothing of it has to be started. */
export type DescribedApi = Pick<HttpOptions, 'modules' | 'info' | 'documents'>;

/**
 * The documents of an API by path, each of them made whenever it is asked for: the OpenAPI 3.1 document of all its
 * routes, and what it has beside that. Making one throws `BrokenInvariant` where two routes have the same operation id.
 */
export const documentsOf = ({ modules, info, documents }: DescribedApi) => ({
  ...documents,
  '/openapi.json': () => openApiDocument(placeRoutes(modules), info),
});
