import { newText, type Routes } from '@counterfoil/engine/define';
import { z } from 'zod';
import { equalTo, oneOf, recordRoutes } from '../record/index.ts';
import { createMeter, deleteMeter, disableMeter, meterRecords, replaceFilters } from './meter.ts';
import { createMeterSchema, updateMeterSchema } from './schema.ts';

const routes = recordRoutes(meterRecords, { tag: 'Meters', right: 'meter' });

const filters = {
  event_name: equalTo('event_name', z.string().max(255)),
  meter_ids: oneOf('id', 64),
} as const;

export const meterRoutes = {
  'POST /meters': routes.create({
    description:
      'What of which events is counted. An expression of CEL gives a number from properties of the event, such as `ceil(seconds / 60)`.',
    body: createMeterSchema,
    example: {
      body: {
        name: newText('Tokens'),
        event_name: newText('tokens'),
        aggregation: { type: 'SUM', field: 'count' },
      },
    },
    decide: createMeter,
  }),
  'GET /meters': routes.list(filters),
  'POST /meters/search': routes.search('MeterSearch', filters),
  'GET /meters/{id}': routes.get(),
  'PUT /meters/{id}': routes.change({
    summary: 'Replace the filters of a meter',
    description: 'For all that use it.',
    body: updateMeterSchema,
    example: { body: { filters: [{ key: 'model', values: ['large'] }] } },
    decide: (id, { filters }) => replaceFilters(id, filters),
  }),
  'POST /meters/{id}/disable': routes.change({
    summary: 'Stop a meter',
    description: 'For good: it counts no more events and cannot be used by anything new.',
    decide: disableMeter,
  }),
  'DELETE /meters/{id}': routes.endWithMessage({
    description: 'Refused while features or prices use it. Afterwards it is not found any more.',
    decide: deleteMeter,
  }),
} satisfies Routes;
