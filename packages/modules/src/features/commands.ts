import type { Outcome, RequestContext } from '@counterfoil/engine/define';
import {
  canonicalJson,
  type FeatureId,
  invalidField,
  invalidOperation,
  notFound,
  writable,
} from '@counterfoil/kernel';
import type { z } from 'zod';
import { groupReference } from '../groups/index.ts';
import { deleted, type messageSchema } from '../message.ts';
import { meter, meterReference } from '../meters/index.ts';
import {
  archiveFeature,
  createFeature,
  type FeatureEvent,
  type FeatureRecord,
  type FeatureState,
  feature,
  featureRecords,
  updateFeature,
} from './feature.ts';
import { meterOfFeature, meterStop } from './reactions.ts';
import type { CloneFeature, CreateFeature, UpdateFeature } from './schema.ts';

type FeatureOutcome = Promise<Outcome<FeatureState, FeatureEvent>>;
type NewFeature = Parameters<typeof createFeature>[0];

/**
 * Creates a feature; the meter that it brings follows from it. `check` throws where the feature may not be
 * created.
 */
async function executeCreation(
  context: RequestContext,
  data: NewFeature,
  check: () => void = () => undefined,
): FeatureOutcome {
  const { id, meter_id, meter: brought, group_id } = data;
  const outcome = await context.execute(feature, id, {
    prepare: async () => {
      check();
      if (meter_id !== null && !brought) await meterReference(context, meter_id);
      if (group_id !== null) await groupReference(context, group_id, 'feature');
      return createFeature(data);
    },
  });
  await context.carryOut(meterOfFeature, id, outcome);
  return outcome;
}

/** Creates the feature of a request, with its inline meter if it has one. */
export function newFeature(context: RequestContext, body: CreateFeature): FeatureOutcome {
  const id = context.newId('feat');
  const { meter } = body;
  return executeCreation(context, {
    ...featureRecords.fieldsFrom(body),
    id,
    ...(meter && { meter_id: context.newId('meter'), meter }),
  });
}

/** A copy of the meter of a feature, for a clone of it. */
async function clonedMeter(
  context: RequestContext,
  { meter_id }: FeatureRecord,
): Promise<Pick<NewFeature, 'meter_id' | 'meter'>> {
  if (meter_id === null) return { meter_id };
  const source = await context.load(meter, meter_id);
  if (!source) throw notFound('meter', meter_id);
  const { name, event_name, aggregation, filters, reset_usage } = source;
  const definition = { name, event_name, aggregation, filters, reset_usage };
  return { meter_id: context.newId('meter'), meter: definition };
}

/**
 * Copies a feature and its meter. Metadata is that of the source, then that of the request, then
 * the id of the source; the lookup_key is never copied.
 */
export async function cloneOfFeature(
  context: RequestContext,
  id: FeatureId,
  body: CloneFeature,
): FeatureOutcome {
  const newId = context.newId('feat');
  const source = await context.load(feature, id);
  if (!source) throw notFound('feature', id);
  const { name, type, group_id, unit_singular, unit_plural, reporting_unit } = source;
  const data = {
    ...{ type, group_id, unit_singular, unit_plural, reporting_unit },
    id: newId,
    name: body.name ?? `${[...name].slice(0, 248).join('')} (copy)`,
    lookup_key: body.lookup_key ?? null,
    description: body.description === undefined ? source.description : body.description,
    alert_settings: source.alert_settings,
    metadata: { ...source.metadata, ...body.metadata, source_feature_id: id },
  };
  const check = () => {
    writable(source, 'feature', id);
    if (body.name === name) throw invalidField('/name', 'must differ from that of the source');
    if (Object.keys(data.metadata).length > 50) {
      throw invalidOperation('The copy would have more than 50 pairs of metadata.', {
        reason: 'limit_reached',
      });
    }
  };
  return executeCreation(context, { ...data, ...(await clonedMeter(context, source)) }, check);
}

/**
 * The filters that an update replaces those of the meter with; null when it has them already. Throws where
 * there is no meter that may change.
 */
async function newFilters(
  context: RequestContext,
  id: FeatureId,
  filters: NonNullable<UpdateFeature['filters']>,
): Promise<typeof filters | null> {
  const current = await context.load(feature, id);
  if (!current) return null;
  if (current.meter_id === null) throw invalidField('/filters', 'the feature has no meter');
  const { filters: those } = await meterReference(context, current.meter_id);
  const known = [those, current.meter_filters ?? those];
  return known.every((each) => canonicalJson(each) === canonicalJson(filters)) ? null : filters;
}

/** Changes a feature; new filters of its meter follow from that. */
export async function updateFeatureAndMeter(
  context: RequestContext,
  id: FeatureId,
  body: UpdateFeature,
): FeatureOutcome {
  const { filters, group_id } = body;
  const outcome = await context.execute(feature, id, {
    prepare: async () => {
      if (group_id) await groupReference(context, group_id, 'feature');
      return updateFeature(id, body, filters ? await newFilters(context, id, filters) : null);
    },
  });
  await context.carryOut(meterOfFeature, id, outcome);
  return outcome;
}

/** Archives a feature; its meter is stopped by a reaction to that. */
export async function deleteFeature(
  context: RequestContext,
  id: FeatureId,
): Promise<z.output<typeof messageSchema>> {
  const outcome = await context.execute(feature, id, archiveFeature(id));
  await context.carryOut(meterStop, id, outcome);
  return deleted('feature', id);
}
