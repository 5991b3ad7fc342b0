import {
  type FeatureId,
  type GroupId,
  type MeterId,
  type PriceUnitId,
  type TaxRateId,
  withoutNulls,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { couponRecords } from '../coupons/index.ts';
import {
  archiveFeature,
  createFeature,
  createFeatureSchema,
  feature,
  featureTable,
  updateFeature,
} from '../features/index.ts';
import {
  archiveGroup,
  createGroup,
  createGroupSchema,
  group,
  groupTable,
} from '../groups/index.ts';
import {
  createMeter,
  createMeterSchema,
  disableMeter,
  meter,
  meterTable,
  meterView,
  replaceFilters,
} from '../meters/index.ts';
import {
  archivePriceUnit,
  createPriceUnit,
  createPriceUnitSchema,
  priceUnit,
  priceUnitTable,
  updatePriceUnit,
} from '../pricing-units/index.ts';
import {
  archiveTaxRate,
  createTaxRate,
  createTaxRateSchema,
  taxRate,
  taxRateTable,
  taxRateView,
  updateTaxRate,
} from '../taxes/index.ts';
import { type Kind, kind, only } from './kind.ts';

const groupFields = ['name', 'lookup_key', 'entity_type', 'metadata'] as const;
const groups = kind({
  section: 'groups',
  aggregate: group,
  table: groupTable,
  prefix: 'group',
  unique: { field: 'lookup_key', claim: 'lookup_key', caseless: false },
  references: {},
  fields: groupFields,
  changeable: [],
  parse: (fields) => createGroupSchema.parse(fields),
  create: (id, request) => createGroup(id as GroupId, request),
  update: () => () => [],
  archive: (id) => archiveGroup(id as GroupId),
  fieldsOf: (record: NonNullable<typeof group.initial>) => only(record, groupFields),
});

const meterFields = ['name', 'event_name', 'aggregation', 'filters', 'reset_usage'] as const;
const meters = kind({
  section: 'meters',
  aggregate: meter,
  table: meterTable,
  prefix: 'meter',
  unique: null,
  references: {},
  fields: meterFields,
  changeable: ['filters'],
  parse: (fields) => createMeterSchema.parse(fields),
  create: (id, request) => createMeter(id as MeterId, request),
  update: (id, { filters }: NonNullable<typeof meter.initial>) =>
    replaceFilters(id as MeterId, filters),
  archive: (id) => disableMeter(id as MeterId),
  fieldsOf: (record: NonNullable<typeof meter.initial>) => only(meterView(record), meterFields),
});

const unitFields = [
  'code',
  'name',
  'symbol',
  'base_currency',
  'conversion_rate',
  'metadata',
] as const;
const pricingUnits = kind({
  section: 'pricing_units',
  aggregate: priceUnit,
  table: priceUnitTable,
  prefix: 'price_unit',
  unique: { field: 'code', claim: 'code', caseless: true },
  references: {},
  fields: unitFields,
  changeable: ['name', 'metadata'],
  parse: (fields) => createPriceUnitSchema.parse(fields),
  create: (id, request) => createPriceUnit(id as PriceUnitId, request),
  update: (id, { name, metadata }: NonNullable<typeof priceUnit.initial>) =>
    updatePriceUnit(id as PriceUnitId, { name, metadata }),
  archive: (id) => archivePriceUnit(id as PriceUnitId),
  fieldsOf: (record: NonNullable<typeof priceUnit.initial>) => only(record, unitFields),
});

const featureFields = [
  'name',
  'type',
  'lookup_key',
  'description',
  'unit_singular',
  'unit_plural',
  'reporting_unit',
  'alert_settings',
  'metadata',
] as const;
const features = kind({
  section: 'features',
  aggregate: feature,
  table: featureTable,
  prefix: 'feat',
  unique: { field: 'lookup_key', claim: 'lookup_key', caseless: false },
  references: {
    group: { section: 'groups', field: 'group_id' },
    meter: { section: 'meters', field: 'meter_id' },
  },
  fields: featureFields,
  changeable: [
    'name',
    'description',
    'unit_singular',
    'unit_plural',
    'reporting_unit',
    'alert_settings',
    'metadata',
    'group',
  ],
  parse: (fields) => createFeatureSchema.parse(fields),
  create: (id, { meter: _inline, ...request }) =>
    createFeature({
      id: id as FeatureId,
      name: request.name,
      type: request.type,
      lookup_key: request.lookup_key ?? null,
      description: request.description ?? null,
      group_id: (request.group_id ?? null) as GroupId | null,
      meter_id: (request.meter_id ?? null) as MeterId | null,
      unit_singular: request.unit_singular ?? null,
      unit_plural: request.unit_plural ?? null,
      reporting_unit: request.reporting_unit ?? null,
      alert_settings: request.alert_settings ?? null,
      metadata: request.metadata,
    }),
  update: (id, desired: NonNullable<typeof feature.initial>) => {
    const { alert_settings: alerts, name, description, group_id, metadata } = desired;
    const { unit_singular, unit_plural, reporting_unit } = desired;
    // Levels that are not named would stay as they are.
    const settings = alerts && {
      alert_enabled: alerts.alert_enabled,
      critical: alerts.critical ?? null,
      warning: alerts.warning ?? null,
      info: alerts.info ?? null,
    };
    return updateFeature(id as FeatureId, {
      ...{ name, description, group_id, metadata, unit_singular, unit_plural, reporting_unit },
      alert_settings: settings,
    });
  },
  archive: (id) => archiveFeature(id as FeatureId),
  fieldsOf: ({ alert_settings, ...record }: NonNullable<typeof feature.initial>) => ({
    ...only({ ...record, alert_settings: alert_settings && withoutNulls(alert_settings) }, [
      ...featureFields,
      'group_id',
      'meter_id',
    ]),
  }),
});

const coupons: Kind = {
  ...couponRecords.catalogue,
  section: 'coupons',
  unique: { field: 'coupon_code', claim: 'coupon_code', caseless: true },
  references: {},
};

const taxFields = [
  'name',
  'code',
  'description',
  'tax_rate_type',
  'percentage_value',
  'fixed_value',
  'scope',
  'tax_rate_status',
  'metadata',
] as const;
const taxStatusSchema = z.object({ tax_rate_status: z.enum(['ACTIVE', 'INACTIVE']).nullish() });
const taxRates = kind({
  section: 'tax_rates',
  aggregate: taxRate,
  table: taxRateTable,
  prefix: 'taxrate',
  unique: { field: 'code', claim: 'code', caseless: true },
  references: {},
  fields: taxFields,
  changeable: ['name', 'code', 'description', 'tax_rate_status', 'metadata'],
  parse: (fields) => ({
    request: createTaxRateSchema.parse(fields),
    tax_rate_status: taxStatusSchema.parse(fields).tax_rate_status ?? ('ACTIVE' as const),
  }),
  // A rate is born active, so one that is not takes a second event.
  create:
    (id, { request, tax_rate_status }) =>
    (state: typeof taxRate.initial, at) => {
      const events = createTaxRate(id as TaxRateId, request)(state, at);
      if (tax_rate_status === 'ACTIVE') return events;
      return [...events, { type: 'TaxRateUpdated' as const, data: { tax_rate_status } }];
    },
  update: (id, desired: NonNullable<typeof taxRate.initial>) => {
    const { name, code, description, tax_rate_status, metadata } = desired;
    return updateTaxRate(id as TaxRateId, { name, code, description, tax_rate_status, metadata });
  },
  archive: (id) => archiveTaxRate(id as TaxRateId),
  fieldsOf: (record: NonNullable<typeof taxRate.initial>) => only(taxRateView(record), taxFields),
});

/** The kinds of records that stand by themselves, those first that others refer to. */
export const kinds: readonly Kind[] = [groups, meters, pricingUnits, features, coupons, taxRates];
