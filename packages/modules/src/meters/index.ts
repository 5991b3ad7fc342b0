import { module } from '@counterfoil/engine/define';
import { meter, meterRecords } from './meter.ts';
import { meterRoutes } from './routes.ts';

export {
  type Aggregation,
  type AggregationType,
  aggregationNeeds,
  aggregationSchema,
  aggregationTypeSchema,
  bucketSizeSchema as windowSizeSchema,
} from './aggregation.ts';
export { evaluation, NoValue } from './evaluate.ts';
export {
  createMeter,
  type MeterDefinition,
  type MeterEvent,
  type MeterRecord,
  meter,
  meterDefinition,
  meterRecords,
  meterReference,
  meterView,
  replaceFilters,
  retireMeter,
} from './meter.ts';
export {
  createMeterSchema,
  filtersSchema,
  type Meter,
  meterSchema,
} from './schema.ts';

/** The meters: which events are counted, and in what way. */
export const meters = module({
  name: 'meters',
  aggregates: [meter],
  tables: [meterRecords.table],
  routes: meterRoutes,
  publicEvents: [meterRecords.publicEvents],
});

/** The routes with their exact types, for the typed client. */
export type MeterRoutes = typeof meterRoutes;
