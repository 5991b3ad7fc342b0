import {
  type Changes,
  type CreditGrantId,
  changedFields,
  type Instant,
  invalidField,
  isEmpty,
  laterOf,
  type Metadata,
  sequencedId,
} from '@counterfoil/kernel';
import { refuseTooManyCreditGrants } from '../limits.ts';
import { type Offer, type OfferDecision, writableChild, writableOffer } from '../offer.ts';
import type { Owner } from '../owner.ts';
import type { CreditGrantData } from './credit-grant.ts';
import type { CreateCreditGrant, UpdateCreditGrant } from './schema.ts';

type Draft = Omit<CreditGrantData, 'id'>;

const draftOf = (request: CreateCreditGrant, owner: Owner): Draft => {
  const isRecurring = request.cadence === 'RECURRING';
  return {
    ...owner,
    name: request.name,
    metadata: request.metadata ?? {},
    credits: request.credits,
    cadence: request.cadence,
    period: request.period ?? null,
    period_count: isRecurring ? (request.period_count ?? 1) : null,
    expiration_type: request.expiration_type,
    expiration_duration: request.expiration_duration ?? null,
    expiration_duration_unit:
      (request.expiration_type === 'DURATION' && request.expiration_duration_unit) || null,
    priority: request.priority ?? null,
    conversion_rate: request.conversion_rate ?? null,
    topup_conversion_rate: request.topup_conversion_rate ?? null,
    end_date: null,
  };
};

/** Creates a credit grant of an offer; it is a template for the subscriptions of the offer. */
export const createCreditGrant =
  (owner: Owner, ownerField: string, request: CreateCreditGrant): OfferDecision =>
  (state, at) => {
    const offer = writableOffer(state, owner, ownerField);
    refuseTooManyCreditGrants(offer, 1);
    const draft = draftOf(request, owner);
    refuseOtherRates(offer, draft);
    const id = sequencedId('cg', at, owner.entity_id, offer.made);
    return [{ type: 'CreditGrantCreated', data: { ...draft, id } }];
  };

/** The credits of one offer go to one wallet, so they are all worth the same. */
function refuseOtherRates({ credit_grants }: Offer, draft: Draft): void {
  const other = credit_grants.find(({ status }) => status === 'published');
  if (!other) return;
  for (const field of ['conversion_rate', 'topup_conversion_rate'] as const) {
    if (other[field] === draft[field]) continue;
    const rate = other[field] ?? 'none';
    throw invalidField(`/${field}`, `the other credit grants of the offer have ${rate}`);
  }
}

interface Editable {
  readonly name: string;
  readonly metadata: Metadata;
}

/** Changes the name and metadata of a credit grant. */
export const updateCreditGrant =
  (id: CreditGrantId, request: UpdateCreditGrant): OfferDecision =>
  (state) => {
    const grant = writableChild(state?.credit_grants, 'credit grant', id);
    if (request.end_date) {
      throw invalidField('/end_date', 'only a grant of a subscription has one: use DELETE');
    }
    const { name, metadata } = request;
    const changes: Changes<Editable> = changedFields<Editable>(grant, { name, metadata });
    return isEmpty(changes) ? [] : [{ type: 'CreditGrantUpdated', data: { id, changes } }];
  };

/** Stops a credit grant, now or from a later date on. Credits that were granted stay. */
export const endCreditGrant =
  (id: CreditGrantId, effectiveDate: Instant | null): OfferDecision =>
  (state, at) => {
    const grant = writableChild(state?.credit_grants, 'credit grant', id);
    const end_date = laterOf(at, effectiveDate ?? at);
    if (end_date === grant.end_date) return [];
    const status = end_date <= at ? 'archived' : 'published';
    return [{ type: 'CreditGrantEnded', data: { id, end_date, status } }];
  };
