import {
  type Instant,
  instantOf,
  type PlanId,
  type Stamp,
  type Stamped,
} from '@counterfoil/kernel';
import {
  createEntitlements,
  type EntitlementDraft,
  entitlementDraft,
} from './entitlement/decisions.ts';
import { createBulkEntitlementsSchema } from './entitlement/schema.ts';
import { type Offer, type OfferEvent, type OfferState, offer } from './offer.ts';
import type { Owner } from './owner.ts';
import { createPrices, type PriceDraft, priceDraft } from './price/decisions.ts';
import type { UnitSnapshot } from './price/figures.ts';
import { createPriceSchema } from './price/schema.ts';
import { createPlan } from './root/decisions.ts';
import { createPlanSchema } from './root/schema.ts';

export const planId = 'plan_01' as PlanId;
export const owner: Owner = { entity_type: 'PLAN', entity_id: planId };

/** The command that creates the plan of a scenario. */
export const plan = (request: object = {}) =>
  createPlan(planId, createPlanSchema.parse({ name: 'Pro', ...request }));

const flat = {
  ...owner,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'USD',
  amount: '10',
};

/** A price as a request asks for it: ten dollars a month unless it says otherwise. */
export const draft = (request: object = {}, unit: UnitSnapshot | null = null): PriceDraft =>
  priceDraft(createPriceSchema.parse({ ...flat, ...request }), owner, unit);

/** The command that creates prices of the plan. */
export const prices = (...drafts: readonly PriceDraft[]) =>
  createPrices(
    owner,
    drafts,
    drafts.map(() => ''),
  );

/** An entitlement as a request asks for it: for a metered feature unless it says otherwise. */
export function grant(
  request: object,
  type: 'metered' | 'boolean' | 'static' = 'metered',
): EntitlementDraft {
  const item = { feature_id: 'feat_01', plan_id: planId, ...request };
  const [parsed] = createBulkEntitlementsSchema.parse({ items: [item] }).items;
  if (!parsed) throw new RangeError('one item in, one item out');
  return entitlementDraft(parsed, owner, type);
}

/** The command that creates entitlements of the plan. */
export const entitlements = (...drafts: readonly EntitlementDraft[]) =>
  createEntitlements(owner, drafts);

type Command = ReturnType<typeof plan>;

const firstInstant = Date.parse('2026-01-01T00:00:00.000Z');

/** The instant at which a decision after so many events is made: a second after the last one. */
export const instantAfter = (events: number): Instant => instantOf(firstInstant + events * 1000);

const stampAfter = (events: number): Stamp => ({
  tenant_id: 'tenant_01' as Stamp['tenant_id'],
  environment_id: 'env_01' as NonNullable<Stamp['environment_id']>,
  occurred_at: instantAfter(events),
  actor: { user_id: null, key_id: null },
});

const stateAfter = (events: readonly OfferEvent[]): OfferState =>
  events.reduce<OfferState>(
    (state, event, index) =>
      offer.evolve(state, { ...event, stamp: stampAfter(index) } as Stamped<OfferEvent>),
    null,
  );

/** The events of commands that follow one another. */
export function history(...commands: readonly Command[]): readonly OfferEvent[] {
  const events: OfferEvent[] = [];
  for (const command of commands) {
    events.push(...command(stateAfter(events), instantAfter(events.length)));
  }
  return events;
}

/** The state that the commands lead to. */
export function after(...commands: readonly Command[]): Offer {
  const state = stateAfter(history(...commands));
  if (!state) throw new RangeError('the commands create no offer');
  return state;
}
