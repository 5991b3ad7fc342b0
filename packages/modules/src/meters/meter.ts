import {
  aggregate,
  canonicalJson,
  createdStamps,
  type Decision,
  type EventOf,
  existing,
  invariant,
  type MeterId,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { aggregationData } from './aggregation.ts';
import { type CreateMeter, type Filters, type Meter, resetUsageSchema } from './schema.ts';

const filtersData = z.array(z.object({ key: z.string(), values: z.array(z.string()) }));

const definitionData = z.object({
  id: referenceSchema('meter'),
  name: z.string(),
  event_name: z.string(),
  aggregation: aggregationData,
  filters: filtersData,
  reset_usage: resetUsageSchema,
});

const events = {
  MeterCreated: definitionData,
  MeterFiltersReplaced: z.object({ filters: filtersData }),
  /** It counts no more events; what it has counted stays. */
  MeterDisabled: z.object({}),
  MeterDeleted: z.object({}),
} as const;
export type MeterEvent = EventOf<typeof events>;

export interface MeterRecord extends z.output<typeof definitionData>, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the meter is created. */
export type MeterState = MeterRecord | null;

export const meter = aggregate({
  name: 'meter',
  scope: 'environment',
  events,
  initial: null as MeterState,
  evolve: (state, event): MeterState => {
    const { stamp } = event;
    switch (event.type) {
      case 'MeterCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'MeterFiltersReplaced':
        return { ...existing(state, 'meter'), ...event.data, ...updatedStamps(stamp) };
      case 'MeterDisabled':
        return { ...existing(state, 'meter'), ...updatedStamps(stamp), status: 'archived' };
      case 'MeterDeleted':
        return { ...existing(state, 'meter'), ...updatedStamps(stamp), status: 'deleted' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  // One that is stopped stays with what counts by it.
  isRemoved: (state) => state?.status === 'deleted',
});

/** Creates a meter. Its aggregation has been checked when the request was read. */
export const createMeter =
  (id: MeterId, request: CreateMeter): Decision<MeterState, MeterEvent> =>
  (state) => {
    invariant(state === null, `meter ${id} is created twice`);
    return [{ type: 'MeterCreated', data: { id, ...request } }];
  };

/** Replaces which events count from now on. The same filters again change nothing. */
export const replaceFilters =
  (id: MeterId, filters: Filters | undefined): Decision<MeterState, MeterEvent> =>
  (state) => {
    const current = writable(state, 'meter', id);
    if (filters === undefined || canonicalJson(filters) === canonicalJson(current.filters)) {
      return [];
    }
    return [{ type: 'MeterFiltersReplaced', data: { filters } }];
  };

/** Stops a meter for good: it stays readable. One that is stopped already stays as it is. */
export const disableMeter =
  (id: MeterId): Decision<MeterState, MeterEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'meter', id);
    return [{ type: 'MeterDisabled', data: {} }];
  };

/** Removes a meter that was never needed. */
export const deleteMeter =
  (id: MeterId): Decision<MeterState, MeterEvent> =>
  (state) => {
    writable(state, 'meter', id);
    return [{ type: 'MeterDeleted', data: {} }];
  };

/** The meter as the API shows it. */
export const meterView = (state: MeterState): Meter => {
  const record = existing(state, 'meter');
  return { ...record, aggregation: withoutNulls(record.aggregation) };
};
