import type { Outcome, RequestContext } from '@counterfoil/engine/define';
import {
  type FeatureId,
  invalidField,
  invalidOperation,
  invariant,
  type MeterId,
  notFound,
  writable,
} from '@counterfoil/kernel';
import type { z } from 'zod';
import { groupReference } from '../groups/index.ts';
import { deleted, type messageSchema } from '../message.ts';
import {
  type CreateMeter,
  disableMeter,
  type MeterRecord,
  meter,
  meterReference,
  replaceFilters,
} from '../meters/index.ts';
import { useOf } from '../uses.ts';
import { executeCreation, type FeaturePlan } from './creation.ts';
import {
  archiveFeature,
  type FeatureEvent,
  type FeatureRecord,
  type FeatureState,
  feature,
  updateFeature,
} from './feature.ts';
import { isMeterShared } from './queries.ts';
import type { FeatureUses } from './routes.ts';
import type { CloneFeature, CreateFeature, UpdateFeature } from './schema.ts';

type FeatureOutcome = Promise<Outcome<FeatureState, FeatureEvent>>;

/** Creates the feature of a request, with its inline meter if it has one. */
export function newFeature(context: RequestContext, body: CreateFeature): FeatureOutcome {
  const id = context.newId('feat');
  const { meter: definition, meter_id } = body;
  return executeCreation(context, {
    data: {
      id,
      name: body.name,
      type: body.type,
      lookup_key: body.lookup_key ?? null,
      description: body.description ?? null,
      group_id: body.group_id ?? null,
      unit_singular: body.unit_singular ?? null,
      unit_plural: body.unit_plural ?? null,
      reporting_unit: body.reporting_unit ?? null,
      alert_settings: body.alert_settings ?? null,
      metadata: body.metadata,
    },
    meter: definition
      ? { kind: 'new', id: context.newId('meter'), definition }
      : meter_id
        ? { kind: 'known', id: meter_id }
        : { kind: 'none' },
  });
}

const definitionOf = ({ name, event_name, aggregation, filters, reset_usage }: MeterRecord) =>
  ({ name, event_name, aggregation, filters, reset_usage }) as CreateMeter;

/** Returns the meter of a clone: a copy of that of its source. */
async function clonedMeter(
  context: RequestContext,
  { meter_id }: FeatureRecord,
): Promise<FeaturePlan['meter']> {
  if (meter_id === null) return { kind: 'none' };
  const source = await context.load(meter, meter_id);
  invariant(source, `the meter ${meter_id} is used before it exists`);
  return { kind: 'new', id: context.newId('meter'), definition: definitionOf(source) };
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
  const check = async () => {
    writable(source, 'feature', id);
    if (body.name === name) throw invalidField('/name', 'must differ from that of the source');
    if (Object.keys(data.metadata).length > 50) {
      throw invalidOperation('The copy would have more than 50 pairs of metadata.');
    }
  };
  return executeCreation(context, { data, meter: await clonedMeter(context, source) }, check);
}

/** The meter whose filters an update replaces. Throws where there is none that may change. */
async function filteredMeter(context: RequestContext, id: FeatureId): Promise<MeterId | null> {
  const current = await context.load(feature, id);
  if (!current) return null;
  if (current.meter_id === null) throw invalidField('/filters', 'the feature has no meter');
  return (await meterReference(context, current.meter_id)).id;
}

/**
 * Changes a feature and, where the request has filters, then those of its meter. Both are checked
 * before the first write; repeating the request completes what did not happen.
 */
export async function updateFeatureAndMeter(
  context: RequestContext,
  id: FeatureId,
  body: UpdateFeature,
): FeatureOutcome {
  const { filters, group_id } = body;
  const outcome = await context.execute(feature, id, {
    prepare: async () => {
      if (group_id) await groupReference(context, group_id, 'feature');
      if (filters !== undefined) await filteredMeter(context, id);
      return updateFeature(id, body);
    },
  });
  const meterId = outcome.state?.meter_id ?? null;
  if (filters !== undefined && meterId !== null) {
    await context.execute(meter, meterId, replaceFilters(meterId, filters));
  }
  return outcome;
}

/** Archives a feature, then stops its meter when nothing else uses it. */
export async function deleteFeature(
  context: RequestContext,
  id: FeatureId,
  { meterInUse }: FeatureUses,
): Promise<z.output<typeof messageSchema>> {
  const { state } = await context.execute(feature, id, archiveFeature(id));
  const meterId = state?.meter_id ?? null;
  if (meterId !== null) await stopUnused(context, meterId, id, meterInUse);
  return deleted('feature', id);
}

async function stopUnused(
  context: RequestContext,
  meterId: MeterId,
  except: FeatureId,
  uses: FeatureUses['meterInUse'],
): Promise<void> {
  const current = await context.load(meter, meterId);
  if (current?.status !== 'published') return;
  if (await isMeterShared(context, meterId, except)) return;
  if ((await useOf(context, meterId, uses)) !== null) return;
  await context.execute(meter, meterId, disableMeter(meterId));
}
