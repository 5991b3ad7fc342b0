import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Instant,
  invalidOperation,
  notFound,
  type SubscriptionId,
  sequencedId,
  writable,
} from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { type Offer, offer } from '../../offers/index.ts';
import { broughtAssociations } from '../../taxes/index.ts';
import { assertSameResets } from '../addons/association.ts';
import { type AddonOrdering, orderedAddon } from '../addons/order-addon.ts';
import type { OrderedAddon } from '../addons/ordered-addon.ts';
import { assertOneKind, subscriptionCommitmentOf } from '../commitments/requests.ts';
import { couponsOfOrder } from '../coupons/prepare.ts';
import type { Granted } from '../entitlements/granted.ts';
import { familyOf } from '../families/prepare.ts';
import { ownGrants } from '../grants/grant.ts';
import type { PhaseData } from '../phases/phase.ts';
import { orderedPhases, type PhaseHost, spanOfPhases } from '../phases/prepare.ts';
import { type CreateSubscription, isNothing } from '../schema.ts';
import { thresholdOf } from '../thresholds/threshold.ts';
import { behaviorsOf } from '../values.ts';
import { creditsOf } from './offered.ts';
import { type Order, trialDaysOf } from './order.ts';
import type { OrderedLine } from './ordered-line.ts';
import { grantedWith } from './override-entitlements.ts';
import { assertRoom, linesOfStretch } from './stretch-lines.ts';

/** The order of a subscription, after everything that the request refers to was found in the log. */
export async function prepareOrder(
  context: RequestContext,
  id: SubscriptionId,
  body: CreateSubscription,
): Promise<Order> {
  const named = body.customer_id ?? body.external_customer_id ?? '';
  const reference = {
    customer_id: body.customer_id ?? undefined,
    external_customer_id: body.external_customer_id ?? undefined,
  };
  const customer = writable(await customerReference(context, reference), 'customer', named);
  const plan = await planNamed(context, body.plan_id);
  const { start_date, end_date } = spanOfPhases(body, context.now);
  const collection_method = body.collection_method ?? 'charge_automatically';
  const payment_behavior = body.payment_behavior ?? 'default_active';
  assertPair(collection_method, payment_behavior);
  const rhythm = { unit: body.billing_period, count: body.billing_period_count ?? 1 };
  const entitlements = grantedWith(context.now, id, plan, body.override_entitlements ?? []);
  const host = { id, plan, currency: body.currency, rhythm, granted: entitlements };
  const { lines, phases } = await orderedLines(context, host, body, start_date);
  const commitment = subscriptionCommitmentOf(body, body.currency, rhythm);
  const addons = await orderedAddons(
    context,
    { id, currency: body.currency, rhythm, start: start_date },
    body,
    entitlements,
  );
  const allLines = [...lines, ...addons.flatMap((addon) => addon.lines)];
  assertOneKind(commitment, allLines);
  return {
    id,
    is_draft: body.subscription_status === 'draft',
    customer_id: customer.id,
    plan_id: body.plan_id,
    plan_name: plan.root.record.name,
    currency: body.currency,
    metadata: body.metadata ?? {},
    lookup_key: body.lookup_key || null,
    start_date,
    end_date,
    timezone: body.timezone ?? customer.timezone,
    billing_cycle: body.billing_cycle ?? 'anniversary',
    billing_anchor: body.billing_anchor ?? null,
    rhythm,
    trial_days: trialDays(body, lines),
    proration_behavior: body.proration_behavior ?? 'none',
    collection_method,
    payment_behavior,
    payment_terms: body.payment_terms ?? null,
    gateway_payment_method_id: body.gateway_payment_method_id || null,
    lines,
    coupons: await couponsOfOrder(
      context,
      { currency: body.currency, start_date, end_date, lines, phases },
      body,
    ),
    tax_associations: [...(await broughtAssociations(context, body.tax_rate_overrides ?? []))],
    family: await familyOf(
      context,
      { id, customer_id: customer.id, currency: body.currency, rhythm },
      body.inheritance,
    ),
    grants: creditsOf(plan, start_date),
    continued_grants: [],
    own_grants: ownGrants(id, body.credit_grants ?? [], context.now),
    entitlements,
    addons,
    phases,
    commitment,
    auto_invoice_threshold: thresholdOf(body.auto_invoice_threshold, {
      currency: body.currency,
      isAlone: isNothing(body.inheritance),
      isCommitted: commitment !== null || allLines.some((line) => line.commitment !== null),
    }),
  };
}

/** The add-ons that a subscription is created with. */
async function orderedAddons(
  context: RequestContext,
  ordering: AddonOrdering,
  { addons }: CreateSubscription,
  entitlements: readonly Granted[],
): Promise<readonly OrderedAddon[]> {
  const all: OrderedAddon[] = [];
  for (const [index, body] of (addons ?? []).entries()) {
    const pointer = `/addons/${index}`;
    const id = sequencedId('addon_assoc', context.now, ordering.id, index);
    const addon = await orderedAddon(context, ordering, id, body, pointer);
    const has = [...entitlements, ...all.flatMap((each) => each.entitlements)];
    assertSameResets(has, addon.entitlements, pointer);
    all.push(addon);
  }
  return all;
}

function assertPair(
  method: keyof typeof behaviorsOf,
  behavior: (typeof behaviorsOf)[typeof method][number],
): void {
  if (behaviorsOf[method].includes(behavior)) return;
  throw invalidOperation(
    `payment_behavior ${behavior} does not go with collection_method ${method}: choose ${behaviorsOf[method].join(', ')}.`,
    { reason: 'unsuitable' },
  );
}

/** The plan that a request names, as the log has it. */
async function planNamed(context: RequestContext, id: string): Promise<Offer> {
  const plan = await context.load(offer, id);
  if (plan?.root.kind !== 'PLAN') throw notFound('plan', id, 'plan_id');
  const { status } = plan.root.record;
  if (status === 'deleted') throw notFound('plan', id, 'plan_id');
  if (status === 'published') return plan;
  throw invalidOperation(`The plan ${id} is archived: nobody can subscribe to it.`, {
    reason: 'archived',
    field: 'plan_id',
  });
}

const trialDays = (
  { subscription_status, trial_period_days }: CreateSubscription,
  lines: readonly OrderedLine[],
): number | null => {
  if (subscription_status === 'active') return null;
  if (trial_period_days !== null && trial_period_days !== undefined)
    return trial_period_days || null;
  return trialDaysOf(
    lines.filter(({ entity_type }) => entity_type === 'plan').map(({ price }) => price),
  );
};

/** The lines of a subscription beside those of add-ons: for all of its life, and for its phases. */
async function orderedLines(
  context: RequestContext,
  { granted, ...ordering }: Omit<PhaseHost, 'commitments' | 'overrides'>,
  body: CreateSubscription,
  start: Instant,
): Promise<{ readonly lines: OrderedLine[]; readonly phases: PhaseData[] }> {
  const host = { ...ordering, commitments: body.line_item_commitments ?? null };
  const overrides = body.override_line_items ?? [];
  const phased = await orderedPhases(context, { ...host, granted, overrides }, body);
  const always = await linesOfStretch(context, host, {
    owner: host.id,
    start,
    phase: null,
    has_plan: phased.length === 0,
    overrides,
    line_items: body.line_items ?? [],
    pointer: '',
  });
  const lines = [...phased.flatMap((each) => each.lines), ...always];
  assertRoom(lines);
  return { lines, phases: phased.map(({ phase }) => phase) };
}
