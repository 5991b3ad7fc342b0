import { type Decision, notFound, writable } from '@counterfoil/kernel';
import { z } from 'zod';
import type { Offer, OfferEvent, OfferState } from './offer.ts';

/** The kind of offer that owns a record. */
export const ownerTypeSchema = z.enum(['PLAN', 'ADDON', 'COSTSHEET']);
export type OwnerType = z.output<typeof ownerTypeSchema>;

/** The owner of a record as its event carries it. It never changes. */
export const ownerData = { entity_type: ownerTypeSchema, entity_id: z.string() } as const;

/** The offer that a record belongs to. */
export interface Owner {
  readonly entity_type: OwnerType;
  readonly entity_id: string;
}

export type OfferDecision = Decision<OfferState, OfferEvent>;

/** The name of each kind, in words for people. */
export const ownerNames: Readonly<Record<OwnerType, string>> = {
  PLAN: 'plan',
  ADDON: 'add-on',
  COSTSHEET: 'costsheet',
};

/**
 * The offer that is to own something new. None of this kind: 404 naming the field; archived: 400.
 * `field` is what the request calls the id.
 */
export function writableOffer(state: OfferState, owner: Owner, field = 'entity_id'): Offer {
  const { entity_type, entity_id } = owner;
  const what = ownerNames[entity_type];
  const isThere = state?.root.kind === entity_type && state.root.record.status !== 'deleted';
  if (!state || !isThere) throw notFound(what, entity_id, field);
  writable(state.root.record, what, entity_id);
  return state;
}

/** The record of an offer that is to be changed: 404 when it is gone, 400 when it is archived. */
export function writableChild<
  Item extends Parameters<typeof writable>[0] & { readonly id: string },
>(items: readonly Item[] | undefined, what: string, id: string): Item {
  const found = items?.find((item) => item.id === id) ?? null;
  writable(found, what, id);
  if (!found) throw notFound(what, id);
  return found;
}
