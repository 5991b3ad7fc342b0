import {
  listShape,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { deleted, messageSchema } from '../message.ts';
import { refuseWhileInUse, type Use } from '../uses.ts';
import {
  createMeter,
  deleteMeter,
  disableMeter,
  meter,
  meterView,
  replaceFilters,
} from './meter.ts';
import { getMeter, searchMeters } from './queries.ts';
import {
  createMeterSchema,
  meterListSchema,
  meterSchema,
  meterSearchSchema,
  updateMeterSchema,
} from './schema.ts';

const tag = 'Meters';
const idParameters = z.object({ id: referenceSchema('meter') });

const routes = {
  'POST /meters': route({
    summary: 'Create a meter',
    description:
      'What of which events is counted. An expression is the part of CEL that gives a number from ' +
      'properties of the event, such as `ceil(seconds / 60)`.',
    tag,
    status: 201,
    permission: 'meter:write',
    body: createMeterSchema,
    response: meterSchema,
    example: {
      body: {
        name: newText('Tokens'),
        event_name: newText('tokens'),
        aggregation: { type: 'SUM', field: 'count' },
      },
      makes: 'meter',
    },
    handle: async (context, { body }) => {
      const id = context.newId('meter');
      const { state, revision } = await context.execute(meter, id, createMeter(id, body));
      return withETag(meterView(state), revision);
    },
  }),

  'GET /meters': route({
    summary: 'List meters',
    tag,
    status: 200,
    permission: 'meter:read',
    query: meterListSchema.extend(listShape),
    response: pageSchema(meterSchema),
    example: { names: { meter_ids: 'meter' } },
    handle: (context, { query }) => searchMeters(context, query),
  }),

  'POST /meters/search': route({
    summary: 'Search meters',
    tag,
    status: 200,
    permission: 'meter:read',
    body: meterSearchSchema,
    bodyOptional: true,
    response: pageSchema(meterSchema),
    example: { names: { meter_ids: 'meter' } },
    handle: (context, { body }) => searchMeters(context, body),
  }),

  'GET /meters/{id}': route({
    summary: 'Get a meter',
    tag,
    status: 200,
    permission: 'meter:read',
    params: idParameters,
    response: meterSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getMeter(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /meters/{id}': route({
    summary: 'Replace the filters of a meter',
    tag,
    status: 200,
    permission: 'meter:write',
    params: idParameters,
    body: updateMeterSchema,
    response: meterSchema,
    example: { body: { filters: [{ key: 'model', values: ['large'] }] } },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await context.execute(
        meter,
        id,
        replaceFilters(id, body.filters),
      );
      return withETag(meterView(state), revision);
    },
  }),

  'POST /meters/{id}/disable': route({
    summary: 'Stop a meter',
    description:
      'It counts no more events and cannot be used by anything new; it stays readable. For good.',
    tag,
    status: 200,
    permission: 'meter:write',
    params: idParameters,
    response: meterSchema,
    handle: async (context, { params: { id } }) => {
      const { state, revision } = await context.execute(meter, id, disableMeter(id));
      return withETag(meterView(state), revision);
    },
  }),
} satisfies Routes;

const deletion = (uses: readonly Use<'meter'>[]) =>
  route({
    summary: 'Delete a meter',
    description: 'Refused while features or prices use it. Afterwards it is not found any more.',
    tag,
    status: 200,
    permission: 'meter:write',
    params: idParameters,
    response: messageSchema,
    handle: async (context, { params: { id } }) => {
      await context.execute(meter, id, {
        prepare: async () => {
          await refuseWhileInUse(context, 'meter', id, uses);
          return deleteMeter(id);
        },
      });
      return deleted('meter', id);
    },
  });

/** The routes of meters. `uses` are asked before a meter is deleted. */
export const meterRoutes = (uses: readonly Use<'meter'>[]) =>
  ({ ...routes, 'DELETE /meters/{id}': deletion(uses) }) satisfies Routes;
