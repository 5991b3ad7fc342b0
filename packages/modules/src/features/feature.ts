import {
  type DecimalText,
  type Decision,
  type FeatureId,
  invalidField,
  type MeterId,
  type RecordStamps,
  referenceSchema,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type AlertSettings,
  alertSettingsSchema,
  alertSettingsView,
  assertConsistentAlerts,
  wireNumber,
} from '../alert-settings.ts';
import { groupRecords } from '../groups/index.ts';
import { type MeterDefinition, meterDefinition, meterRecords } from '../meters/index.ts';
import { type EventsOf, type RecordOf, record, type StateOf } from '../record/index.ts';
import {
  createFeatureSchema,
  featureSchema,
  featureTypeSchema,
  type UpdateFeature,
} from './schema.ts';

const changeableData = z.object({
  name: z.string(),
  description: z.string().nullable(),
  group_id: z.string().nullable(),
  unit_singular: z.string().nullable(),
  unit_plural: z.string().nullable(),
  reporting_unit: z
    .object({
      conversion_rate: z.string().transform((text) => text as DecimalText),
      unit_singular: z.string(),
      unit_plural: z.string(),
    })
    .nullable(),
  alert_settings: alertSettingsSchema.nullable(),
  metadata: z.record(z.string(), z.string()),
  /** The filters that were last asked for its meter, which gets them because of that. */
  meter_filters: meterDefinition.shape.filters.optional(),
});
type Changeable = z.output<typeof changeableData>;

/** Refuses a feature of which one unit is named and the other is not, or whose alerts disagree. */
function assertConsistent({ unit_singular, unit_plural, alert_settings }: Changeable): void {
  if (unit_singular !== null && unit_plural === null) {
    throw invalidField('/unit_plural', 'is required with unit_singular');
  }
  if (unit_plural !== null && unit_singular === null) {
    throw invalidField('/unit_singular', 'is required with unit_plural');
  }
  if (alert_settings) assertConsistentAlerts(alert_settings);
}

interface BringingMeter extends RecordStamps {
  readonly meter?: MeterDefinition | undefined;
  readonly meter_id: string | null;
}

/** The meter that a feature brings, which is created right after it. */
const meterToCome = (feature: BringingMeter) => {
  const { meter, meter_id: id, tenant_id, environment_id, created_at, created_by } = feature;
  if (!meter) return null;
  const stamps = { created_at, created_by, updated_at: created_at, updated_by: created_by };
  return { ...meter, id, status: 'published', tenant_id, environment_id, ...stamps };
};

/** A feature. Its meter and its group stay as long as it is in use. */
export const featureRecords = record({
  name: 'feature',
  called: 'feature',
  prefix: 'feat',
  life: {
    created: {
      event: 'FeatureCreated',
      publishes: 'feature.created',
      when: 'A feature is created',
    },
    updated: {
      event: 'FeatureUpdated',
      publishes: 'feature.updated',
      when: 'Data of a feature change',
    },
    archived: {
      event: 'FeatureArchived',
      publishes: 'feature.deleted',
      when: 'A feature is archived',
    },
  },
  fixed: {
    type: featureTypeSchema,
    lookup_key: z.string().nullable(),
    meter_id: referenceSchema('meter').nullable(),
    /** The definition of a meter that is created because of the feature. */
    meter: meterDefinition.optional(),
  },
  changeable: changeableData.shape,
  unique: { field: 'lookup_key' },
  references: {
    meter_id: { ...meterRecords, follows: ({ meter }) => meter !== undefined },
    group_id: groupRecords,
  },
  embeds: {
    meter: { record: meterRecords, id: ({ meter_id }) => meter_id, follows: meterToCome },
    group: { record: groupRecords, id: ({ group_id }) => group_id },
  },
  check: assertConsistent,
  request: {
    schema: createFeatureSchema,
    fields: ({ name, type, metadata, ...optional }) => ({
      ...{ name, type, metadata },
      lookup_key: optional.lookup_key ?? null,
      description: optional.description ?? null,
      group_id: optional.group_id ?? null,
      meter_id: (optional.meter_id ?? null) as MeterId | null,
      unit_singular: optional.unit_singular ?? null,
      unit_plural: optional.unit_plural ?? null,
      reporting_unit: optional.reporting_unit ?? null,
      alert_settings: optional.alert_settings ?? null,
    }),
  },
  entry: {
    fields: ({ alert_settings: alerts, ...fields }) => ({
      ...fields,
      alert_settings: alerts && withoutNulls(alerts),
    }),
  },
  schema: featureSchema,
  view: ({
    reporting_unit: unit,
    alert_settings,
    meter: _definition,
    meter_filters: _asked,
    ...fields
  }) =>
    withoutNulls({
      ...fields,
      reporting_unit: unit && { ...unit, conversion_rate: wireNumber(unit.conversion_rate) },
      alert_settings: alertSettingsView(alert_settings),
    }),
  table: {
    name: 'features',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      type: { type: 'text', of: ({ type }) => type },
      lookup_key: { type: 'text', of: ({ lookup_key }) => lookup_key, index: true },
      meter_id: { type: 'text', of: ({ meter_id }) => meter_id, index: true },
      group_id: { type: 'text', of: ({ group_id }) => group_id, index: true },
    },
  },
});

export type FeatureEvent = EventsOf<typeof featureRecords>;
export type FeatureState = StateOf<typeof featureRecords>;
export type FeatureRecord = RecordOf<typeof featureRecords>;
export const {
  aggregate: feature,
  create: createFeature,
  archive: archiveFeature,
  view: featureView,
  referred: featureReference,
} = featureRecords;
/** A feature as it is created: complete, with the ids of its meter and group. */
export type FeatureData = Parameters<typeof createFeature>[0];

/** The settings after an update: levels that are given replace theirs, null removes one or all. */
function mergedAlerts(
  current: AlertSettings | null,
  given: UpdateFeature['alert_settings'],
): AlertSettings | null | undefined {
  if (!given) return given;
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...(current ?? { alert_enabled: true }), ...Object.fromEntries(stated) };
}

/**
 * Changes the fields that are given and differ; when none does, nothing happens (D18). Filters for its
 * meter are asked for again, even when they are those that were asked for last.
 */
export const updateFeature =
  (
    id: FeatureId,
    { alert_settings, filters: _compared, ...fields }: UpdateFeature,
    filters: MeterDefinition['filters'] | null = null,
  ): Decision<FeatureState, FeatureEvent> =>
  (state, at) => {
    const settings = mergedAlerts(state?.alert_settings ?? null, alert_settings);
    const change = featureRecords.update(id, { ...fields, alert_settings: settings });
    const events = change(state, at);
    if (!filters) return events;
    const data = { ...events[0]?.data, meter_filters: filters };
    return [{ type: 'FeatureUpdated', data }];
  };
