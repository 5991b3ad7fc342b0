import {
  aggregate,
  type Changes,
  changedFields,
  createdStamps,
  type DecimalText,
  type Decision,
  type EventOf,
  existing,
  type FeatureId,
  invalidField,
  invariant,
  isEmpty,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type AlertSettings,
  alertSettingsSchema,
  alertSettingsView,
  assertConsistentAlerts,
  wireNumber,
} from '../alert-settings.ts';
import { type Feature, featureTypeSchema, type UpdateFeature } from './schema.ts';

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
});
type Changeable = z.output<typeof changeableData>;

const featureData = z.object({
  id: referenceSchema('feat'),
  type: featureTypeSchema,
  lookup_key: z.string().nullable(),
  meter_id: referenceSchema('meter').nullable(),
  ...changeableData.shape,
});
/** A feature as it is decided: complete, with the id of its meter. */
export type FeatureData = z.output<typeof featureData>;

const events = {
  FeatureCreated: featureData,
  /** Only what changed. */
  FeatureUpdated: changeableData.partial(),
  FeatureArchived: z.object({}),
} as const;
export type FeatureEvent = EventOf<typeof events>;

export interface FeatureRecord extends FeatureData, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the feature is created. */
export type FeatureState = FeatureRecord | null;

export const feature = aggregate({
  name: 'feature',
  scope: 'environment',
  events,
  initial: null as FeatureState,
  evolve: (state, event): FeatureState => {
    const { stamp } = event;
    switch (event.type) {
      case 'FeatureCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'FeatureUpdated':
        return {
          ...withChanges<FeatureRecord>(existing(state, 'feature'), event.data),
          ...updatedStamps(stamp),
        };
      case 'FeatureArchived':
        return { ...existing(state, 'feature'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  isRemoved: (state) => state !== null && state.status !== 'published',
  refersTo: (state) => {
    if (state?.status !== 'published') return [];
    const { meter_id, group_id } = state;
    return [
      ...(meter_id === null ? [] : [{ category: 'meter', id: meter_id, what: 'meter' }]),
      ...(group_id === null ? [] : [{ category: 'group', id: group_id, what: 'group' }]),
    ];
  },
  /** An archived feature gives its lookup_key back. */
  unique: (state) =>
    state?.status === 'published' && state.lookup_key !== null
      ? [
          {
            name: 'lookup_key',
            value: state.lookup_key,
            problem: `Another feature has the lookup_key ${JSON.stringify(state.lookup_key)}.`,
          },
        ]
      : [],
});

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

/** Creates a feature. Group and meter have been looked up. */
export const createFeature =
  (data: FeatureData): Decision<FeatureState, FeatureEvent> =>
  (state) => {
    invariant(state === null, `feature ${data.id} is created twice`);
    assertConsistent(data);
    return [{ type: 'FeatureCreated', data }];
  };

/** The settings after an update: levels that are given replace theirs, null removes one or all. */
function mergedAlerts(
  current: AlertSettings | null,
  given: UpdateFeature['alert_settings'],
): AlertSettings | null | undefined {
  if (!given) return given;
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...(current ?? { alert_enabled: true }), ...Object.fromEntries(stated) };
}

/** Changes the fields that are given and differ; when none does, nothing happens (D18). */
export const updateFeature =
  (
    id: FeatureId,
    { alert_settings, filters: _ofTheMeter, ...fields }: UpdateFeature,
  ): Decision<FeatureState, FeatureEvent> =>
  (state) => {
    const current = writable(state, 'feature', id);
    const changes: Changes<Changeable> = changedFields<Changeable>(current, {
      ...fields,
      alert_settings: mergedAlerts(current.alert_settings, alert_settings),
    });
    if (isEmpty(changes)) return [];
    assertConsistent(withChanges<Changeable>(current, changes));
    return [{ type: 'FeatureUpdated', data: changes }];
  };

/** Takes a feature out of use, for good. One that is archived already stays as it is. */
export const archiveFeature =
  (id: FeatureId): Decision<FeatureState, FeatureEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'feature', id);
    return [{ type: 'FeatureArchived', data: {} }];
  };

/** The feature as the API shows it, without meter and group: those are not its own. */
export const featureView = (state: FeatureState): Feature => {
  const { reporting_unit: unit, alert_settings, ...record } = existing(state, 'feature');
  return withoutNulls({
    ...record,
    reporting_unit: unit && { ...unit, conversion_rate: wireNumber(unit.conversion_rate) },
    alert_settings: alertSettingsView(alert_settings),
  });
};
