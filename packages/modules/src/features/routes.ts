import { newText, type Routes, route, withETag } from '@counterfoil/engine/define';
import { referenceSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import { messageSchema } from '../message.ts';
import { containing, equalTo, oneOf, recordRoutes } from '../record/index.ts';
import { cloneOfFeature, deleteFeature, newFeature, updateFeatureAndMeter } from './commands.ts';
import { embeddedNow, featureExpansion } from './embedding.ts';
import { featureRecords, featureView } from './feature.ts';
import {
  cloneFeatureSchema,
  createFeatureSchema,
  featureSchema,
  updateFeatureSchema,
} from './schema.ts';

const tag = 'Features';
const params = z.object({ id: referenceSchema('feat') });
const common = { tag, permission: 'feature:write', response: featureSchema } as const;

const records = recordRoutes(featureRecords, {
  tag,
  right: 'feature',
  embedding: { expansion: featureExpansion },
});

const filters = {
  lookup_key: equalTo('lookup_key', z.string().max(255)),
  name_contains: containing('name', 255),
  feature_ids: oneOf('id', 255),
  lookup_keys: oneOf('lookup_key', 255),
  meter_ids: oneOf('meter_id', 255, { names: 'meter' }),
} as const;

export const featureRoutes = {
  'POST /features': route({
    ...common,
    summary: 'Create a feature',
    description: 'A metered feature names its meter by `meter_id`, or brings a new one as `meter`.',
    status: 201,
    body: createFeatureSchema,
    example: {
      body: {
        name: newText('Tokens'),
        type: 'metered',
        lookup_key: newText('tokens'),
        meter: {
          name: newText('Tokens'),
          event_name: newText('tokens'),
          aggregation: { type: 'SUM', field: 'count' },
        },
      },
      makes: 'feat',
      names: { group_id: 'group' },
      texts: ['meter_id'],
    },
    handle: async (context, { body }) => {
      const { state, revision } = await newFeature(context, body);
      return withETag(await embeddedNow(context, featureView(state)), revision);
    },
  }),
  'GET /features': records.list(filters),
  'POST /features/search': records.search('FeatureSearch', filters),
  'GET /features/{id}': records.get({ summary: 'Get a feature with its meter and group' }),
  'PUT /features/{id}': route({
    ...common,
    summary: 'Update a feature',
    description: 'Units are set together. `filters` replaces those of the meter.',
    status: 200,
    params,
    body: updateFeatureSchema,
    example: {
      body: { description: newText('Changed'), filters: [] },
      names: { group_id: 'group' },
    },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await updateFeatureAndMeter(context, id, body);
      return withETag(await embeddedNow(context, featureView(state)), revision);
    },
  }),
  'POST /features/{id}/clone': route({
    ...common,
    summary: 'Copy a feature',
    description: 'With its meter.',
    status: 201,
    params,
    body: cloneFeatureSchema,
    bodyOptional: true,
    example: { body: {} },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await cloneOfFeature(context, id, body);
      return withETag(await embeddedNow(context, featureView(state)), revision);
    },
  }),
  'DELETE /features/{id}': route({
    summary: 'Delete a feature',
    description:
      'Its meter is stopped when nothing else uses it. Refused while entitlements use the feature.',
    tag,
    status: 200,
    permission: 'feature:write',
    params,
    response: messageSchema,
    handle: (context, { params: { id } }) => deleteFeature(context, id),
  }),
} satisfies Routes;
