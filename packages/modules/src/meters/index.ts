import { type Module, module } from '@counterfoil/engine/define';
import type { Use } from '../uses.ts';
import { meter } from './meter.ts';
import { meterTable } from './projection.ts';
import { meterPublicEvents } from './public-events.ts';
import { meterRoutes } from './routes.ts';

export { type Aggregation, type AggregationType, aggregationTypeSchema } from './aggregation.ts';
export {
  createMeter,
  disableMeter,
  type MeterRecord,
  type MeterState,
  meter,
  meterView,
  replaceFilters,
} from './meter.ts';
export { meterTable } from './projection.ts';
export { getMeter, metersById } from './queries.ts';
export { meterReference } from './reference.ts';
export {
  type CreateMeter,
  createMeterSchema,
  type Filters,
  filtersSchema,
  type Meter,
  meterSchema,
} from './schema.ts';

/**
 * The meters: what is counted, and of which events. `inUse` are asked before a meter is deleted.
 */
export const meters = ({ inUse }: { readonly inUse: readonly Use<'meter'>[] }): Module =>
  module({
    name: 'meters',
    aggregates: [meter],
    tables: [meterTable],
    routes: meterRoutes(inUse),
    publicEvents: [meterPublicEvents],
  });

/** The routes with their exact types, for the typed client. */
export type MeterRoutes = ReturnType<typeof meterRoutes>;
