import type { RequestContext } from '@counterfoil/engine/define';
import type { Currency, DecimalText } from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, lowerCase, type RecordOf, record } from '../record/index.ts';
import { createPriceUnitSchema, priceUnitSchema } from './schema.ts';

const kept = <Kind extends string>() => z.string().transform((text) => text as Kind);

/** A currency of a tenant's own. Whatever prices and wallets are computed with is for ever. */
export const priceUnitRecords = record({
  name: 'price_unit',
  called: 'pricing unit',
  prefix: 'price_unit',
  life: {
    created: {
      event: 'PriceUnitCreated',
      publishes: 'price_unit.created',
      when: 'A pricing unit is created',
    },
    updated: {
      event: 'PriceUnitUpdated',
      publishes: 'price_unit.updated',
      when: 'Name or metadata of a pricing unit change',
    },
    archived: {
      event: 'PriceUnitArchived',
      publishes: 'price_unit.deleted',
      when: 'A pricing unit is archived',
    },
  },
  fixed: {
    code: z.string(),
    symbol: z.string(),
    base_currency: kept<Currency>(),
    conversion_rate: kept<DecimalText>(),
  },
  changeable: { name: z.string(), metadata: z.record(z.string(), z.string()) },
  unique: { field: 'code', ignoresCase: true },
  request: { schema: createPriceUnitSchema, fields: (request) => request },
  schema: priceUnitSchema,
  view: (unit) => ({ ...unit }),
  table: {
    name: 'price_units',
    version: 1,
    columns: {
      name: { type: 'text', of: ({ name }) => name },
      code: { type: 'text', of: ({ code }) => lowerCase(code), index: true },
      base_currency: { type: 'text', of: ({ base_currency }) => base_currency },
    },
  },
});

export type PriceUnitEvent = EventsOf<typeof priceUnitRecords>;
export type PriceUnitRecord = RecordOf<typeof priceUnitRecords>;
export const {
  aggregate: priceUnit,
  createFrom: createPriceUnit,
  update: updatePriceUnit,
  archive: archivePriceUnit,
  view: priceUnitView,
} = priceUnitRecords;

/** The published pricing unit with a code, from the log. 404 naming the field when there is none. */
export const priceUnitReference = (
  context: RequestContext,
  code: string,
  field = 'price_unit',
): Promise<PriceUnitRecord> => priceUnitRecords.holder(context, code, field);
