import { type MeterId, withoutNulls } from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, type RecordOf, record } from '../record/index.ts';
import { aggregationData } from './aggregation.ts';
import { createMeterSchema, type Filters, meterSchema, resetUsageSchema } from './schema.ts';

const fixed = {
  name: z.string(),
  event_name: z.string(),
  aggregation: aggregationData,
  reset_usage: resetUsageSchema,
};
const changeable = {
  filters: z.array(z.object({ key: z.string(), values: z.array(z.string()) })),
};

/** The definition of a meter, as events have it. */
export const meterDefinition = z.object({ ...fixed, ...changeable });
export type MeterDefinition = z.output<typeof meterDefinition>;

/** A meter. Everything but the filters is for ever; one that is stopped keeps what it has counted. */
export const meterRecords = record({
  name: 'meter',
  called: 'meter',
  prefix: 'meter',
  life: {
    created: { event: 'MeterCreated', publishes: 'meter.created', when: 'A meter is created' },
    updated: {
      event: 'MeterFiltersReplaced',
      publishes: 'meter.updated',
      when: 'The filters of a meter change',
    },
    archived: {
      event: 'MeterDisabled',
      publishes: 'meter.disabled',
      when: 'A meter counts no more',
    },
    retired: {
      event: 'MeterRetired',
      publishes: 'meter.disabled',
      when: 'A meter counts no more',
    },
    deleted: { event: 'MeterDeleted', publishes: 'meter.deleted', when: 'A meter is deleted' },
  },
  fixed,
  changeable,
  /** True when it was stopped because nothing used it any more. */
  born: { retired: false as boolean },
  request: { schema: createMeterSchema, fields: (request) => request },
  schema: meterSchema,
  view: ({ retired: _retired, aggregation, ...fields }) => ({
    ...fields,
    aggregation: withoutNulls(aggregation),
  }),
  table: {
    name: 'meters',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      event_name: { type: 'text', of: ({ event_name }) => event_name, index: true },
    },
  },
});

export type MeterRecord = RecordOf<typeof meterRecords>;
export type MeterEvent = EventsOf<typeof meterRecords>;
export const {
  aggregate: meter,
  createFrom: createMeter,
  archive: disableMeter,
  retire: retireMeter,
  remove: deleteMeter,
  view: meterView,
  referred: meterReference,
} = meterRecords;

/** Replaces which events count from now on. The same filters again change nothing. */
export const replaceFilters = (id: MeterId, filters: Filters | undefined) =>
  meterRecords.update(id, { filters });
