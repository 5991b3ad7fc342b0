import {
  aggregate,
  changedFields,
  createdStamps,
  type DecimalText,
  type Decision,
  type EventOf,
  existing,
  invariant,
  isEmpty,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  type TaxRateId,
  updatedStamps,
  withChanges,
  withoutNulls,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type CreateTaxRate,
  type TaxRate,
  taxRateScopeSchema,
  taxRateStatusSchema,
  typeOf,
  type UpdateTaxRate,
} from './rate-schema.ts';

const figure = z.string().transform((text) => text as DecimalText);

/** The amount of the tax: a part of what is taxed, or an amount whatever that is. */
const taxData = z.discriminatedUnion('tax_rate_type', [
  z.object({ tax_rate_type: z.literal('percentage'), percentage_value: figure }),
  z.object({ tax_rate_type: z.literal('fixed'), fixed_value: figure }),
]);
export type Tax = z.output<typeof taxData>;

const changeableData = z.object({
  name: z.string(),
  code: z.string(),
  description: z.string().nullable(),
  tax_rate_status: taxRateStatusSchema,
  metadata: z.record(z.string(), z.string()),
});
type Changeable = z.output<typeof changeableData>;

const taxRateData = z.object({
  id: referenceSchema('taxrate'),
  tax: taxData,
  scope: taxRateScopeSchema,
  ...changeableData.shape,
});

const events = {
  TaxRateCreated: taxRateData,
  /** Only what changed. */
  TaxRateUpdated: changeableData.partial(),
  TaxRateArchived: z.object({}),
} as const;
export type TaxRateEvent = EventOf<typeof events>;

export interface TaxRateRecord extends z.output<typeof taxRateData>, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the tax rate is created. */
export type TaxRateState = TaxRateRecord | null;

/** A code as it is compared: codes that differ in case alone are the same. */
export const comparedCode = (code: string): string => code.toLowerCase();

export const taxRate = aggregate({
  name: 'tax_rate',
  scope: 'environment',
  events,
  initial: null as TaxRateState,
  evolve: (state, event): TaxRateState => {
    const { stamp } = event;
    switch (event.type) {
      case 'TaxRateCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'TaxRateUpdated':
        return {
          ...withChanges<TaxRateRecord>(existing(state, 'tax rate'), event.data),
          ...updatedStamps(stamp),
        };
      case 'TaxRateArchived':
        return { ...existing(state, 'tax rate'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  isRemoved: (state) => state !== null && state.status !== 'published',
  /** An archived rate gives its code back. */
  unique: (state) =>
    state?.status === 'published'
      ? [
          {
            name: 'code',
            value: comparedCode(state.code),
            problem: `Another tax rate has the code ${JSON.stringify(state.code)}.`,
          },
        ]
      : [],
});

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

/** Creates a tax rate, active from the start. */
export const createTaxRate =
  (id: TaxRateId, request: CreateTaxRate): Decision<TaxRateState, TaxRateEvent> =>
  (state) => {
    invariant(state === null, `tax rate ${id} is created twice`);
    const { name, code, description = null, scope, metadata } = request;
    const tax_rate_status = 'ACTIVE';
    const tax = taxOf(request);
    const data = { id, name, code, description, tax, scope, tax_rate_status, metadata } as const;
    return [{ type: 'TaxRateCreated', data }];
  };

/** Changes the fields that are given and differ; when none does, nothing happens. */
export const updateTaxRate =
  (id: TaxRateId, request: UpdateTaxRate): Decision<TaxRateState, TaxRateEvent> =>
  (state) => {
    const current = writable(state, 'tax rate', id);
    const changes = changedFields<Changeable>(current, request);
    return isEmpty(changes) ? [] : [{ type: 'TaxRateUpdated', data: changes }];
  };

/** Takes a tax rate out of use, for good. One that is archived already stays as it is. */
export const archiveTaxRate =
  (id: TaxRateId): Decision<TaxRateState, TaxRateEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'tax rate', id);
    return [{ type: 'TaxRateArchived', data: {} }];
  };

/** The tax rate as the API shows it. */
export const taxRateView = (state: TaxRateState): TaxRate => {
  const { tax, ...record } = existing(state, 'tax rate');
  return { ...withoutNulls(record), ...tax };
};
