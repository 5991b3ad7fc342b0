import { type CreditGrantId, type Instant, instantSchema, invariant } from '@counterfoil/kernel';
import { z } from 'zod';
import {
  type CreditGrantData,
  createCreditGrant,
  createCreditGrantSchema,
  endCreditGrant,
  type OfferDecision,
  updateCreditGrant,
} from '../offers/index.ts';
import { differences, refuseUnknown } from './entry.ts';
import { currentGrants, grantEntry, grantFields } from './offer-entries.ts';
import type { Asked, OfferPlan } from './plan-offer.ts';
import type { Entry } from './schema.ts';

type Grant = Omit<CreditGrantData, 'id'> & { readonly id: CreditGrantId };

/** A grant that is to be made. */
interface Creation {
  readonly decision: OfferDecision;
  /** Until when it is to be granted; null: without end. */
  readonly end: Instant | null;
  readonly pointer: string;
}

const endSchema = z.object({ end_date: instantSchema.nullish() });

/**
 * Decides on the credit grants of an offer: by name. Metadata and the end can change, but an end
 * cannot be taken back; for all else another grant is made. Ends come before creations, because all
 * grants of an offer are worth the same.
 */
export function planCreditGrants(plan: OfferPlan, asked: readonly Asked[]): void {
  const { at, faults, prune } = plan.around;
  const left = new Map<string, Grant>(
    currentGrants(plan.offer, at).map((grant) => [grant.id, grant]),
  );
  const creations: Creation[] = [];
  for (const { entry, pointer } of asked) {
    const wanted = faults.at(pointer, () => wantedGrant(plan, entry, pointer));
    // A grant that has ended has nothing left to do.
    if (!wanted || (wanted.end !== null && wanted.end <= at)) continue;
    const before = [...left.values()].find(({ name }) => name === entry.name);
    const label = `credit grant ${entry.name}`;
    if (!before) {
      plan.details.push(`${label}: created`);
      creations.push(wanted);
      continue;
    }
    left.delete(before.id);
    const different = differences(grantEntry(before), wanted.entry);
    const mayStay = different.every((name) => name === 'metadata' || name === 'end_date');
    if (mayStay && (wanted.end !== null || before.end_date === null)) {
      keep(plan, before, wanted);
    } else {
      plan.run(endCreditGrant(before.id, null));
      plan.details.push(`${label}: ${different.join(', ')}`);
      creations.push(wanted);
    }
  }
  for (const { id, name } of prune ? left.values() : []) {
    plan.note(`credit grant ${name}: ended`, endCreditGrant(id, null));
  }
  for (const creation of creations) faults.at(creation.pointer, () => create(plan, creation));
}

interface Wanted extends Creation {
  readonly entry: Entry;
}

function wantedGrant(plan: OfferPlan, entry: Entry, pointer: string): Wanted {
  const { faults, at } = plan.around;
  const { entity_type, entity_id } = plan.owner;
  refuseUnknown(entry, grantFields, { faults, pointer });
  const { end_date, ...fields } = entry;
  const ownerField = entity_type === 'ADDON' ? 'addon_id' : 'plan_id';
  const request = createCreditGrantSchema.parse({
    ...fields,
    scope: entity_type,
    [ownerField]: entity_id,
  });
  const end = endSchema.parse({ end_date }).end_date ?? null;
  const decision = createCreditGrant(plan.owner, ownerField, request);
  const [made] = decision({ ...plan.offer, credit_grants: [] }, at);
  invariant(made?.type === 'CreditGrantCreated', 'a grant that is created has its event');
  return { decision, end, pointer, entry: grantEntry({ ...made.data, end_date: end }) };
}

function keep(plan: OfferPlan, { id, name, end_date }: Grant, { entry, end }: Wanted): void {
  const metadata = (entry.metadata ?? {}) as Readonly<Record<string, string>>;
  plan.note(`credit grant ${name}: metadata`, updateCreditGrant(id, { metadata }));
  if (end !== end_date) plan.note(`credit grant ${name}: end_date`, endCreditGrant(id, end));
}

function create(plan: OfferPlan, { decision, end }: Creation): void {
  plan.run(decision);
  const id = plan.offer.credit_grants.at(-1)?.id;
  if (id && end !== null) plan.run(endCreditGrant(id, end));
}
