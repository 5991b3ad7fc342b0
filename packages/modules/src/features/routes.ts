import {
  listShape,
  newText,
  pageSchema,
  type Routes,
  route,
  withETag,
} from '@counterfoil/engine/define';
import { messageSchema } from '../message.ts';
import type { Use } from '../uses.ts';
import { cloneOfFeature, deleteFeature, newFeature, updateFeatureAndMeter } from './commands.ts';
import { embeddedNow } from './embedding.ts';
import { featureView } from './feature.ts';
import { getFeature, searchFeatures } from './queries.ts';
import {
  cloneFeatureSchema,
  createFeatureSchema,
  featureIdParameters,
  featureListSchema,
  featureSchema,
  featureSearchSchema,
  updateFeatureSchema,
} from './schema.ts';

const tag = 'Features';

const routes = {
  'POST /features': route({
    summary: 'Create a feature',
    description:
      'A metered feature names its meter by `meter_id`, or brings one as `meter` that is created ' +
      'with it.',
    tag,
    status: 201,
    permission: 'feature:write',
    body: createFeatureSchema,
    response: featureSchema,
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

  'GET /features': route({
    summary: 'List features',
    tag,
    status: 200,
    permission: 'feature:read',
    query: featureListSchema.extend(listShape),
    response: pageSchema(featureSchema),
    example: { names: { feature_ids: 'feat', meter_ids: 'meter' } },
    handle: (context, { query }) => searchFeatures(context, query),
  }),

  'POST /features/search': route({
    summary: 'Search features',
    tag,
    status: 200,
    permission: 'feature:read',
    body: featureSearchSchema,
    bodyOptional: true,
    response: pageSchema(featureSchema),
    example: { names: { feature_ids: 'feat', meter_ids: 'meter' } },
    handle: (context, { body }) => searchFeatures(context, body),
  }),

  'GET /features/{id}': route({
    summary: 'Get a feature with its meter and group',
    tag,
    status: 200,
    permission: 'feature:read',
    params: featureIdParameters,
    response: featureSchema,
    handle: async (context, { params: { id } }) => {
      const { resource, revision } = await getFeature(context, id);
      return withETag(resource, revision);
    },
  }),

  'PUT /features/{id}': route({
    summary: 'Update a feature',
    description:
      'Only fields that are given change; `""` and null clear an optional one. Units are set ' +
      'together. `filters` replaces those of the meter.',
    tag,
    status: 200,
    permission: 'feature:write',
    params: featureIdParameters,
    body: updateFeatureSchema,
    response: featureSchema,
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
    summary: 'Copy a feature, and its meter',
    tag,
    status: 201,
    permission: 'feature:write',
    params: featureIdParameters,
    body: cloneFeatureSchema,
    bodyOptional: true,
    response: featureSchema,
    example: { body: {} },
    handle: async (context, { params: { id }, body }) => {
      const { state, revision } = await cloneOfFeature(context, id, body);
      return withETag(await embeddedNow(context, featureView(state)), revision);
    },
  }),
} satisfies Routes;

/** The questions to be asked before a feature or its meter goes out of use. */
export interface FeatureUses {
  readonly inUse: readonly Use<'feat'>[];
  /** The uses of a meter beside features. */
  readonly meterInUse: readonly Use<'meter'>[];
}

/** The routes of features. `uses` are asked before a feature is deleted. */
export const featureRoutes = (uses: FeatureUses) =>
  ({
    ...routes,
    'DELETE /features/{id}': route({
      summary: 'Delete a feature',
      description:
        'It is archived: readable by id, out of lists; its lookup_key is free again. Its meter is ' +
        'stopped when nothing else uses it. Refused while entitlements use the feature.',
      tag,
      status: 200,
      permission: 'feature:write',
      params: featureIdParameters,
      response: messageSchema,
      handle: (context, { params: { id } }) => deleteFeature(context, id, uses),
    }),
  }) satisfies Routes;
