import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  type Decision,
  invalidField,
  type PriceUnitId,
} from '@counterfoil/kernel';
import { z } from 'zod';
import { type EventsOf, lowerCase, type RecordOf, record } from '../record/index.ts';
import { createPriceUnitSchema, priceUnitSchema, type updatePriceUnitSchema } from './schema.ts';

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

/** Values are compared as they are looked up and shown: codes whatever their case. */
const isSame = (stored: string, sent: string): boolean => lowerCase(stored) === lowerCase(sent);

/**
 * Changes what may change. What never does may be sent as it is stored (D20); another value of it is 400
 * naming the field.
 */
export function changePriceUnit(
  id: PriceUnitId,
  request: z.output<typeof updatePriceUnitSchema>,
): Decision<PriceUnitRecord | null, PriceUnitEvent> {
  const { name, metadata, ...forEver } = request;
  const update = updatePriceUnit(id, { name, metadata });
  return (unit, at) => {
    const events = update(unit, at);
    for (const [field, sent] of Object.entries(forEver)) {
      const stored = unit?.[field as keyof typeof forEver] ?? '';
      if (sent === undefined || isSame(stored, sent)) continue;
      throw invalidField(`/${field}`, `never changes: it is ${JSON.stringify(stored)}`);
    }
    return events;
  };
}

/** The published pricing unit with a code, from the log. 404 naming the field when there is none. */
export const priceUnitReference = (
  context: RequestContext,
  code: string,
  field = 'price_unit',
): Promise<PriceUnitRecord> => priceUnitRecords.holder(context, code, field);
