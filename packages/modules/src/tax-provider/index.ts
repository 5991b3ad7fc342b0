import { module } from '@counterfoil/engine/define';
import { taxProvider } from './account.ts';
import { type TaxProviderRoutesOptions, taxProviderRoutes } from './routes.ts';

export { taxProvider } from './account.ts';
export { taxesByProvider, taxLimits } from './calculation.ts';
export { taxProviderRoutes } from './routes.ts';

/** The tax provider of an environment. The invoices that it is asked about are those of the slice `invoices`. */
export const taxProviders = (options: TaxProviderRoutesOptions) =>
  module({
    name: 'tax-provider',
    aggregates: [taxProvider],
    tables: [],
    routes: taxProviderRoutes(options),
    publicEvents: [],
  });

/** The routes with their exact types, for the typed client. */
export type TaxProviderRoutes = ReturnType<typeof taxProviderRoutes>;
