import {
  type Changes,
  canonicalJson,
  changedFields,
  type GroupId,
  type Instant,
  invalidField,
  invalidOperation,
  isEmpty,
  laterOf,
  type MeterId,
  type PriceId,
  sequencedId,
  withChanges,
} from '@counterfoil/kernel';
import { refuseTooManyPrices } from '../limits.ts';
import {
  type Offer,
  type OfferDecision,
  type OfferEvent,
  writableChild,
  writableOffer,
} from '../offer.ts';
import type { Owner } from '../owner.ts';
import { fieldsOf } from '../records.ts';
import { chainOf, refuseEqualKeys, refuseOverlap } from './chain.ts';
import { asksForFigures, createdFigures, repricedFigures, type UnitSnapshot } from './figures.ts';
import { type Figures, hasEnded, type Labels, type PriceData, type PriceRecord } from './price.ts';
import type { CreatePrice, UpdatePrice } from './schema.ts';

/** A price as it will be but for its id; without a start it begins when it is decided. */
export type PriceDraft = Omit<PriceData, 'id' | 'start_date'> & {
  readonly start_date: Instant | null;
};

/**
 * The price that a request describes. `unit` is the pricing unit that it names, looked up before;
 * `pointer` is where the price stands in the request.
 *
 * @throws a Problem that points at the field that is missing or wrong
 */
export function priceDraft(
  request: CreatePrice,
  owner: Owner,
  unit: UnitSnapshot | null,
  pointer = '',
): PriceDraft {
  const { type, currency, billing_period, invoice_cadence } = request;
  return {
    ...owner,
    type,
    currency,
    billing_period,
    billing_period_count: request.billing_period_count ?? 1,
    billing_cadence: request.billing_cadence ?? 'RECURRING',
    invoice_cadence,
    ...(request.tax_behavior === 'inclusive' && { tax_behavior: 'inclusive' }),
    meter_id: (request.meter_id ?? null) as MeterId | null,
    min_quantity: request.min_quantity ?? null,
    trial_period_days: (request.trial_period_days ?? request.trial_period) || null,
    ...createdFigures(request, unit, pointer),
    ...labelsOf(request),
    parent_price_id: null,
    start_date: request.start_date ?? null,
    end_date: request.end_date ?? null,
  };
}

const labelsOf = (request: CreatePrice): Labels => ({
  lookup_key: request.lookup_key ?? null,
  display_name: request.display_name ?? null,
  description: request.description ?? null,
  group_id: (request.group_id ?? null) as GroupId | null,
  metadata: request.metadata ?? {},
});

/** Creates prices of one offer, all or none. `pointers` say where each stands in the request. */
export const createPrices =
  (owner: Owner, drafts: readonly PriceDraft[], pointers: readonly string[]): OfferDecision =>
  (state, at) => {
    const offer = writableOffer(state, owner);
    refuseTooManyPrices(offer, { added: drafts.length, replaced: 0 }, at);
    refuseEqualKeys(offer, drafts, pointers);
    return drafts.map((draft, index) => {
      const { parent_price_id: chain, end_date } = draft;
      const start_date = draft.start_date ?? at;
      if (end_date !== null && end_date <= start_date) {
        throw invalidField(`${pointers[index]}/end_date`, 'must be after start_date');
      }
      const pointer = `${pointers[index]}/start_date`;
      if (chain !== null) {
        refuseOverlap(offer, chain, { id: null, start_date, end_date, at, pointer });
      }
      const id = sequencedId('price', at, owner.entity_id, offer.made + index);
      return { type: 'PriceCreated', data: { ...draft, id, start_date } };
    });
  };

/**
 * Edits the labels of a price in place; any figure that differs ends it instead and starts another
 * one with the new figures, in the same instant and the same append.
 */
export const updatePrice =
  (id: PriceId, request: UpdatePrice): OfferDecision =>
  (state, at) => {
    const price = writableChild(state?.prices, 'price', id);
    refuseEnded(price, at);
    const { lookup_key, display_name, description, group_id, metadata } = request;
    const labels = changedFields<Labels>(price, {
      lookup_key,
      display_name,
      description,
      group_id: group_id as GroupId | null | undefined,
      metadata,
    });
    if (state && labels.lookup_key) {
      const asked = { lookup_key: labels.lookup_key, parent_price_id: chainOf(price) };
      refuseEqualKeys(state, [asked], ['']);
    }
    const figures = asksForFigures(request) ? repricedFigures(price, request) : null;
    if (state && figures && differs(price, figures)) {
      return repriced(state, price, { figures, labels, from: startOf(price, request, at) }, at);
    }
    if (request.effective_from !== undefined && !figures) {
      throw invalidField('/effective_from', 'is for new figures: labels change at once');
    }
    return isEmpty(labels) ? [] : [{ type: 'PriceUpdated', data: { id, changes: labels } }];
  };

function refuseEnded(price: PriceRecord, at: Instant): void {
  if (!hasEnded(price, at)) return;
  throw invalidOperation(`The price ${price.id} has ended: it can be read but not changed.`, {
    reason: 'ended',
  });
}

const differs = (price: PriceRecord, figures: Figures): boolean =>
  canonicalJson(figures) !==
  canonicalJson(
    Object.fromEntries(
      Object.keys(figures).map((name) => [name, price[name as keyof Figures] ?? null]),
    ),
  );

/** Returns the start of the new figures: a time inside that of the price. */
function startOf(
  { start_date, end_date }: PriceRecord,
  request: UpdatePrice,
  at: Instant,
): Instant {
  const from = request.effective_from ?? laterOf(at, start_date);
  if (from < start_date) {
    throw invalidField('/effective_from', `must not be before the price starts, at ${start_date}`);
  }
  if (end_date !== null && from >= end_date) {
    throw invalidField('/effective_from', `must be before the price ends, at ${end_date}`);
  }
  return from;
}

interface Repricing {
  readonly figures: Figures;
  readonly labels: Changes<Labels>;
  readonly from: Instant;
}

/** The price goes on until the other one begins. Until then it may still be edited. */
function repriced(
  offer: Offer,
  price: PriceRecord,
  { figures, labels, from }: Repricing,
  at: Instant,
): OfferEvent[] {
  const is_final = from <= laterOf(at, price.start_date);
  refuseTooManyPrices(offer, { added: 1, replaced: is_final ? 1 : 0 }, at);
  const successor: PriceData = {
    ...withChanges<PriceData>(dataOf(price), labels),
    ...figures,
    id: sequencedId('price', at, price.entity_id, offer.made),
    parent_price_id: price.parent_price_id ?? price.id,
    start_date: from,
  };
  return [
    { type: 'PriceEnded', data: { id: price.id, end_date: from, is_final } },
    { type: 'PriceCreated', data: successor },
  ];
}

/** Returns what the event of a price would say of it now. */
export function dataOf(price: PriceRecord): PriceData {
  const { is_final: _isFinal, ...data } = fieldsOf(price);
  return data;
}

/**
 * Ends a price, now or later. One that has not begun yet is never in force then. One whose time
 * has passed by itself gives its lookup_key back.
 */
export const endPrice =
  (id: PriceId, endDate: Instant | null): OfferDecision =>
  (state, at) => {
    const price = writableChild(state?.prices, 'price', id);
    const { start_date, end_date, is_final, lookup_key } = price;
    if (is_final || (hasEnded(price, at) && lookup_key === null)) refuseEnded(price, at);
    if (endDate !== null && endDate < at)
      throw invalidField('/end_date', 'must not be in the past');
    if (endDate !== null && endDate < start_date) {
      throw invalidField('/end_date', `must not be before the price starts, at ${start_date}`);
    }
    if (end_date !== null && end_date <= at) {
      return [{ type: 'PriceEnded', data: { id, end_date, is_final: true } }];
    }
    const end = endDate ?? laterOf(at, start_date);
    const isFinal = end <= laterOf(at, start_date);
    if (!isFinal && end === end_date) return [];
    if (state && !isFinal) {
      const time = { id, start_date, end_date: end, at, pointer: '/end_date' };
      refuseOverlap(state, chainOf(price), time);
    }
    return [{ type: 'PriceEnded', data: { id, end_date: end, is_final: isFinal } }];
  };
