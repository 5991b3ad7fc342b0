import {
  aggregate,
  type Currency,
  changedFields,
  createdStamps,
  type DecimalText,
  type Decision,
  type EventOf,
  existing,
  invariant,
  isEmpty,
  type PriceUnitId,
  type RecordStamps,
  type RecordStatus,
  referenceSchema,
  updatedStamps,
  withChanges,
  writable,
} from '@counterfoil/kernel';
import { z } from 'zod';
import type { CreatePriceUnit, PriceUnit, UpdatePriceUnit } from './schema.ts';

const kept = <Kind extends string>() => z.string().transform((text) => text as Kind);

const changeableData = {
  name: z.string(),
  metadata: z.record(z.string(), z.string()),
} as const;

const priceUnitData = z.object({
  id: referenceSchema('price_unit'),
  code: z.string(),
  symbol: z.string(),
  base_currency: kept<Currency>(),
  conversion_rate: kept<DecimalText>(),
  ...changeableData,
});

const events = {
  PriceUnitCreated: priceUnitData,
  /** Only what changed. */
  PriceUnitUpdated: z.object(changeableData).partial(),
  PriceUnitArchived: z.object({}),
} as const;
export type PriceUnitEvent = EventOf<typeof events>;

export interface PriceUnitRecord extends z.output<typeof priceUnitData>, RecordStamps {
  readonly status: RecordStatus;
}

/** Null until the pricing unit is created. */
export type PriceUnitState = PriceUnitRecord | null;

/** A code as it is compared: codes that differ in case alone are the same. */
export const comparedCode = (code: string): string => code.toLowerCase();

export const priceUnit = aggregate({
  name: 'price_unit',
  scope: 'environment',
  events,
  initial: null as PriceUnitState,
  evolve: (state, event): PriceUnitState => {
    const { stamp } = event;
    switch (event.type) {
      case 'PriceUnitCreated':
        return { ...event.data, status: 'published', ...createdStamps(stamp) };
      case 'PriceUnitUpdated':
        return {
          ...withChanges<PriceUnitRecord>(existing(state, 'pricing unit'), event.data),
          ...updatedStamps(stamp),
        };
      case 'PriceUnitArchived':
        return { ...existing(state, 'pricing unit'), ...updatedStamps(stamp), status: 'archived' };
      default:
        return event satisfies never;
    }
  },
  isReferable: (state) => state?.status === 'published',
  isRemoved: (state) => state !== null && state.status !== 'published',
  /** An archived unit gives its code back. */
  unique: (state) =>
    state?.status === 'published'
      ? [
          {
            name: 'code',
            value: comparedCode(state.code),
            problem: `Another pricing unit has the code ${JSON.stringify(state.code)}.`,
          },
        ]
      : [],
});

/** Creates a pricing unit. */
export const createPriceUnit =
  (id: PriceUnitId, request: CreatePriceUnit): Decision<PriceUnitState, PriceUnitEvent> =>
  (state) => {
    invariant(state === null, `pricing unit ${id} is created twice`);
    return [{ type: 'PriceUnitCreated', data: { id, ...request } }];
  };

/** Changes name and metadata where they are given and differ; code, rate and currency never. */
export const updatePriceUnit =
  (id: PriceUnitId, request: UpdatePriceUnit): Decision<PriceUnitState, PriceUnitEvent> =>
  (state) => {
    const current = writable(state, 'pricing unit', id);
    const { name, metadata } = request;
    const changes = changedFields<UpdatePriceUnit>(current, { name, metadata });
    return isEmpty(changes) ? [] : [{ type: 'PriceUnitUpdated', data: changes }];
  };

/** Takes a pricing unit out of use, for good. One that is archived already stays as it is. */
export const archivePriceUnit =
  (id: PriceUnitId): Decision<PriceUnitState, PriceUnitEvent> =>
  (state) => {
    if (state?.status === 'archived') return [];
    writable(state, 'pricing unit', id);
    return [{ type: 'PriceUnitArchived', data: {} }];
  };

/** The pricing unit as the API shows it. */
export const priceUnitView = (state: PriceUnitState): PriceUnit => ({
  ...existing(state, 'pricing unit'),
});
