import {
  type Page,
  pageRequest,
  type RequestContext,
  searchFilters,
  where,
} from '@counterfoil/engine/define';
import type { z } from 'zod';
import { foundById, resourcesById } from '../references.ts';
import { meterTable } from './projection.ts';
import type { Meter, meterSearchSchema } from './schema.ts';

type MeterSearch = Partial<z.output<typeof meterSearchSchema>>;

/** The meter with an id, stopped ones included. 404 when there is none. */
export const getMeter = (context: RequestContext, id: string) =>
  foundById(context, meterTable, 'meter', id);

/** Meters by id, stopped ones included, for what shows them inside. */
export const metersById = (context: RequestContext, ids: readonly (string | undefined)[]) =>
  resourcesById(context, meterTable, ids);

/** One page of meters. */
export const searchMeters = (context: RequestContext, search: MeterSearch): Promise<Page<Meter>> =>
  context.read.list(meterTable, pageRequest(meterTable, search), [
    ...searchFilters(meterTable, search),
    ...where('id', 'in', search.meter_ids),
    ...where('event_name', 'eq', search.event_name),
  ]);
