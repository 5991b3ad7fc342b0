import type { RequestContext } from '@counterfoil/engine/define';
import { type DecimalText, invalidOperation, invariant, withoutNulls } from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, lowerCase, type RecordOf, record } from '../record/index.ts';
import {
  type CreateTaxRate,
  createTaxRateSchema,
  taxRateSchema,
  taxRateScopeSchema,
  taxRateStatusSchema,
  typeOf,
} from './rate-schema.ts';

const figure = z.string().transform((text) => text as DecimalText);

/** The amount of the tax: a part of what is taxed, or an amount whatever that is. */
const taxData = z.discriminatedUnion('tax_rate_type', [
  z.object({ tax_rate_type: z.literal('percentage'), percentage_value: figure }),
  z.object({ tax_rate_type: z.literal('fixed'), fixed_value: figure }),
]);
type Tax = z.output<typeof taxData>;

function taxOf(request: CreateTaxRate): Tax {
  const { percentage_value, fixed_value } = request;
  const tax_rate_type = typeOf(request);
  if (tax_rate_type === 'fixed') {
    invariant(fixed_value, 'a fixed tax without a value was let through');
    return { tax_rate_type, fixed_value };
  }
  invariant(percentage_value, 'a percentage tax without a value was let through');
  return { tax_rate_type, percentage_value };
}

/** A tax rate, active from the start. How much it is, and its scope, are for ever. */
export const taxRateRecords = record({
  name: 'tax_rate',
  called: 'tax rate',
  prefix: 'taxrate',
  life: {
    created: {
      event: 'TaxRateCreated',
      publishes: 'tax_rate.created',
      when: 'A tax rate is created',
    },
    updated: { event: 'TaxRateUpdated', publishes: 'tax_rate.updated', when: 'A tax rate changes' },
    archived: {
      event: 'TaxRateArchived',
      publishes: 'tax_rate.deleted',
      when: 'A tax rate is archived',
    },
  },
  fixed: { tax: taxData, scope: taxRateScopeSchema },
  changeable: {
    name: z.string(),
    code: z.string(),
    description: z.string().nullable(),
    tax_rate_status: taxRateStatusSchema,
    metadata: z.record(z.string(), z.string()),
  },
  unique: { field: 'code', ignoresCase: true },
  request: {
    schema: createTaxRateSchema,
    fields: (request) => ({
      name: request.name,
      code: request.code,
      description: request.description ?? null,
      tax: taxOf(request),
      scope: request.scope,
      tax_rate_status: 'ACTIVE' as const,
      metadata: request.metadata,
    }),
  },
  entry: { later: z.object({ tax_rate_status: taxRateStatusSchema.nullish() }) },
  schema: taxRateSchema,
  view: ({ tax, ...fields }) => ({ ...withoutNulls(fields), ...tax }),
  table: {
    name: 'tax_rates',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      code: { type: 'text', of: ({ code }) => lowerCase(code), index: true },
      scope: { type: 'text', of: ({ scope }) => scope },
    },
  },
});

export type TaxRateEvent = EventsOf<typeof taxRateRecords>;
type TaxRateRecord = RecordOf<typeof taxRateRecords>;
export const {
  aggregate: taxRate,
  createFrom: createTaxRate,
  update: updateTaxRate,
  archive: archiveTaxRate,
  view: taxRateView,
} = taxRateRecords;

/**
 * The published tax rate with a code, from the log. 404 naming the field when there is none; 400 when
 * it is not active.
 */
export async function taxRateReference(
  context: RequestContext,
  code: string,
  field = 'tax_rate_code',
): Promise<TaxRateRecord> {
  return assertActive(await taxRateRecords.holder(context, code, field), field);
}

/** The active rate with an id. 404 naming the field where there is none, 400 where it is archived or not active. */
export const activeTaxRate = async (
  context: RequestContext,
  id: string,
  field: string,
): Promise<TaxRateRecord> => assertActive(await taxRateRecords.referred(context, id, field), field);

function assertActive(record: TaxRateRecord, field: string): TaxRateRecord {
  if (record.tax_rate_status !== 'INACTIVE') return record;
  throw invalidOperation(`The tax rate ${record.code} is not active.`, {
    reason: 'inactive',
    field,
  });
}
