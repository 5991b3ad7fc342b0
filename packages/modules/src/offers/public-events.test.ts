import type { CreditGrantId, EntitlementId, PriceId, Stamped } from '@counterfoil/kernel';
import { folded, stampAt } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deleteEntitlement, updateEntitlement } from './entitlement/decisions.ts';
import { updateEntitlementSchema } from './entitlement/schema.ts';
import { createCreditGrant, endCreditGrant, updateCreditGrant } from './grant/decisions.ts';
import { createCreditGrantSchema, updateCreditGrantSchema } from './grant/schema.ts';
import { type Offer, type OfferDecision, offer } from './offer.ts';
import { updatePrice } from './price/decisions.ts';
import { updatePriceSchema } from './price/schema.ts';
import { offerPublicEvents } from './public-events.ts';
import { archivePlan, updatePlan } from './root/decisions.ts';
import { updatePlanSchema } from './root/schema.ts';
import { draft, entitlements, grant, history, owner, plan, planId, prices } from './test-offers.ts';

const test = suite('offer publications');

/** A command on the records that the offer has by then. */
const then =
  (command: (own: Offer) => OfferDecision): OfferDecision =>
  (state, at) => {
    assert.ok(state);
    return command(state)(state, at);
  };

const idOf = (items: readonly { readonly id: string }[]): string => items[0]?.id ?? '';

const credits = {
  name: 'Credits',
  scope: 'PLAN',
  plan_id: planId,
  credits: '5',
  cadence: 'ONETIME',
};
const events = history(
  plan(),
  updatePlan(planId, updatePlanSchema.parse({ name: 'Max' })),
  prices(draft()),
  then(({ prices }) =>
    updatePrice(idOf(prices) as PriceId, updatePriceSchema.parse({ display_name: 'Monthly' })),
  ),
  then(({ prices }) =>
    updatePrice(idOf(prices) as PriceId, updatePriceSchema.parse({ amount: '11' })),
  ),
  entitlements(grant({ usage_limit: 5 })),
  then((own) =>
    updateEntitlement(
      idOf(own.entitlements) as EntitlementId,
      updateEntitlementSchema.parse({ usage_limit: 6 }),
    ),
  ),
  then((own) => deleteEntitlement(idOf(own.entitlements) as EntitlementId)),
  createCreditGrant(owner, 'plan_id', createCreditGrantSchema.parse(credits)),
  then((own) =>
    updateCreditGrant(
      idOf(own.credit_grants) as CreditGrantId,
      updateCreditGrantSchema.parse({ name: 'More' }),
    ),
  ),
  then((own) => endCreditGrant(idOf(own.credit_grants) as CreditGrantId, null)),
  archivePlan(planId),
);

const published = events.flatMap((event, index) =>
  offerPublicEvents.publish(
    {
      event: { ...event, stamp: stampAt(index) } as Stamped<(typeof events)[number]>,
      before: folded(offer, events.slice(0, index)),
      after: folded(offer, events.slice(0, index + 1)),
    },
    {},
  ),
);

/** The content of a message, under the name of its kind. */
const inside = (index: number) => Object.entries(published[index]?.body ?? {})[0] ?? ['', {}];

test('each change is published once, about the record that changed', () => {
  assert.equal(
    published.map(({ type }) => type),
    [
      'plan.created',
      'plan.updated',
      'price.created',
      'price.updated',
      'price.ended',
      'price.created',
      'entitlement.created',
      'entitlement.updated',
      'entitlement.deleted',
      'credit_grant.created',
      'credit_grant.updated',
      'credit_grant.ended',
      'plan.deleted',
    ],
  );
  for (const [index, { type, resourceId, body }] of published.entries()) {
    const [name, resource] = inside(index);
    assert.equal([name, Object.keys(body).length], [type.slice(0, type.indexOf('.')), 1]);
    assert.is((resource as { id: string }).id, resourceId);
  }
});

test('a message shows the record as it was after its event', () => {
  const seen = (index: number, field: string) =>
    (inside(index)[1] as Readonly<Record<string, unknown>>)[field];
  assert.equal([seen(0, 'name'), seen(1, 'name')], ['Pro', 'Max']);
  assert.equal([seen(4, 'amount'), seen(5, 'amount')], ['10', '11']);
  assert.is(seen(4, 'end_date'), seen(5, 'start_date'));
  assert.equal([seen(7, 'usage_limit'), seen(8, 'usage_limit')], [6, 6]);
  assert.equal([seen(7, 'status'), seen(8, 'status')], ['published', 'deleted']);
  assert.equal([seen(11, 'status'), seen(12, 'status')], ['archived', 'archived']);
});

test('a price and an entitlement show their plan as it was, and name what else they show', () => {
  const plans = [2, 6].map((index) => (inside(index)[1] as { plan: { name: string } }).plan.name);
  assert.equal(plans, ['Max', 'Max']);
  const idsAt = (index: number) => {
    const [event] = events.slice(index);
    const change = {
      event: { ...event, stamp: stampAt(index) } as Stamped<(typeof events)[number]>,
      before: folded(offer, events.slice(0, index)),
      after: folded(offer, events.slice(0, index + 1)),
    };
    return Object.entries(offerPublicEvents.embeds).flatMap(([member, { id }]) =>
      id(change) ? [member] : [],
    );
  };
  const shown = events.map((_, index) => idsAt(index).join());
  assert.equal([...new Set(shown)], ['', 'feature']);
  assert.equal(
    shown.flatMap((members, index) => (members === 'feature' ? [published[index]?.type] : [])),
    ['entitlement.created', 'entitlement.updated', 'entitlement.deleted'],
  );
});

test('every message is of the declared form', () => {
  for (const { type, body } of published) {
    const declared = offerPublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body);
  }
});

test.run();
