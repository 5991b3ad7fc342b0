import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  type DecimalText,
  type Instant,
  invalidField,
  invalidOperation,
  notFound,
  type PriceId,
  Problem,
  type SubscriptionId,
  sequencedId,
  writable,
} from '@counterfoil/kernel';
import { customerReference } from '../../customers/index.ts';
import { overrideValues } from '../../entitlements/index.ts';
import { meter } from '../../meters/index.ts';
import {
  type Offer,
  offer,
  type PriceRecord,
  priceDrafts,
  priceTable,
  repricedFigures,
} from '../../offers/index.ts';
import type { Granted } from '../entitlements/granted.ts';
import type { SoldPrice } from '../lines/line.ts';
import {
  type CreateSubscription,
  maximumLines,
  type OrderedLineBody,
  type OverrideEntitlement,
  type OverrideLine,
} from '../schema.ts';
import { behaviorsOf } from '../values.ts';
import { type Order, type OrderedLine, quantityOf, trialDaysOf } from './order.ts';
import { fitsRhythm, planPrices, type Rhythm } from './plan-prices.ts';

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
  const start_date = body.start_date ?? context.now;
  const collection_method = body.collection_method ?? 'charge_automatically';
  const payment_behavior = body.payment_behavior ?? 'default_active';
  assertPair(collection_method, payment_behavior);
  const rhythm = { unit: body.billing_period, count: body.billing_period_count ?? 1 };
  const lines = await orderedLines(context, { id, body, plan, rhythm, start: start_date });
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
    end_date: body.end_date ?? null,
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
    grants: creditsOf(plan, start_date),
    entitlements: grantedWith(context.now, id, plan, body.override_entitlements ?? []),
  };
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

/** The credits that a plan gives to those who subscribe at an instant. */
const creditsOf = ({ credit_grants }: Offer, start: Instant): Order['grants'] =>
  credit_grants
    .filter(
      ({ status, end_date }) => status === 'published' && (end_date === null || end_date > start),
    )
    .map((grant) => ({
      source_id: grant.id,
      name: grant.name,
      credits: grant.credits as DecimalText,
      period: grant.cadence === 'RECURRING' ? grant.period : null,
      period_count: grant.period_count ?? 1,
      expiration_type: grant.expiration_type,
      expiration_duration: grant.expiration_duration,
      expiration_duration_unit: grant.expiration_duration_unit,
      priority: grant.priority,
      conversion_rate: grant.conversion_rate as DecimalText | null,
      topup_conversion_rate: grant.topup_conversion_rate as DecimalText | null,
      metadata: grant.metadata,
    }));

/** The entitlements that a plan gives now, as the subscription keeps it. */
const grantedBy = ({ root, entitlements }: Offer): Granted[] =>
  entitlements.map((each) => ({
    entitlement_id: each.id,
    feature_id: each.feature_id,
    feature_type: each.feature_type,
    entity_type: 'PLAN',
    entity_id: root.record.id,
    entity_name: root.record.name,
    parent_entitlement_id: each.parent_entitlement_id,
    is_enabled: each.is_enabled,
    is_soft_limit: each.is_soft_limit,
    usage_limit: each.usage_limit,
    usage_reset_period: each.usage_reset_period,
    static_value: each.static_value,
    start_date: each.start_date,
    end_date: each.end_date,
  }));

/**
 * The entitlements of a subscription: those of its plan, and for each that is overridden one of its own that stands in for
 * it. What an override leaves out is as the plan has it (E 8.2 B).
 */
function grantedWith(
  now: Instant,
  id: SubscriptionId,
  plan: Offer,
  overrides: readonly OverrideEntitlement[],
): Granted[] {
  const granted = grantedBy(plan);
  const own = overrides.map(({ entitlement_id, config_value: _, ...changes }, index): Granted => {
    const pointer = `/override_entitlements/${index}/entitlement_id`;
    const parent = granted.find((each) => each.entitlement_id === entitlement_id);
    if (!parent) throw notFound('entitlement', entitlement_id, pointer.slice(1));
    if (overrides.findIndex((each) => each.entitlement_id === entitlement_id) < index) {
      throw invalidField(pointer, 'has an override already');
    }
    return {
      ...parent,
      ...overrideValues(parent, changes),
      entitlement_id: sequencedId('ent', now, id, index),
      entity_type: 'SUBSCRIPTION',
      entity_id: id,
      parent_entitlement_id: entitlement_id,
      start_date: null,
      end_date: null,
    };
  });
  return [...granted, ...own];
}

interface Ordering {
  readonly id: SubscriptionId;
  readonly body: CreateSubscription;
  readonly plan: Offer;
  readonly rhythm: Rhythm;
  readonly start: Instant;
}

async function orderedLines(context: RequestContext, ordering: Ordering): Promise<OrderedLine[]> {
  const { body, plan, rhythm, start } = ordering;
  const prices = planPrices(plan, body.currency, rhythm, start);
  const overrides = overridesOf(body.override_line_items ?? [], prices);
  const { id: entity_id, name: entity_name } = plan.root.record;
  const ofPlan = prices.map((price, index): Omit<OrderedLine, 'meter_display_name'> => {
    const override = overrides.get(price.id) ?? null;
    const own = override && overridden(ordering, context.now, price, override, index);
    const sold = own ?? soldOf(price);
    const quantity = quantityOf(
      sold,
      (override?.body.quantity ?? null) as DecimalText | null,
      `${override?.pointer ?? ''}/quantity`,
    );
    const origin = own
      ? { entity_type: 'subscription' as const, entity_id: ordering.id }
      : { entity_type: 'plan' as const, entity_id };
    return {
      ...origin,
      entity_name,
      price: sold,
      display_name: price.display_name ?? entity_name,
      quantity,
      from: price.start_date > start ? price.start_date : null,
      end_date: null,
      metadata: {},
    };
  });
  const extra: Omit<OrderedLine, 'meter_display_name'>[] = [];
  for (const [index, line] of (body.line_items ?? []).entries()) {
    const pointer = `/line_items/${index}`;
    const price_id = sequencedId('price', context.now, ordering.id, maximumLines + index);
    const { currency } = body;
    const ordered = { id: ordering.id, currency, plan_name: entity_name, rhythm, start };
    extra.push(await extraLine(context, { ...ordered, pointer, price_id }, line));
  }
  const all = [...ofPlan, ...extra];
  if (all.length > maximumLines) {
    throw invalidOperation(
      `A subscription has at most ${maximumLines} lines: this has ${all.length}.`,
      {
        reason: 'limit_reached',
        limit: maximumLines,
      },
    );
  }
  return Promise.all(all.map((line) => withMeterName(context, line)));
}

interface Override {
  readonly body: OverrideLine;
  readonly pointer: string;
}

/** Overrides by the price that each is of: one for each at most, and of prices that the plan is sold under. */
function overridesOf(
  given: readonly OverrideLine[],
  prices: readonly PriceRecord[],
): ReadonlyMap<string, Override> {
  const overrides = new Map<string, Override>();
  for (const [index, body] of given.entries()) {
    const pointer = `/override_line_items/${index}`;
    // One of another plan is unknown here as well.
    if (!prices.some(({ id }) => id === body.price_id)) {
      throw notFound('price', body.price_id, `override_line_items/${index}/price_id`);
    }
    if (overrides.has(body.price_id)) {
      throw invalidField(`${pointer}/price_id`, 'has an override already');
    }
    overrides.set(body.price_id, { body, pointer });
  }
  return overrides;
}

const figureNames = [
  'billing_model',
  'amount',
  'tier_mode',
  'tiers',
  'transform_quantity',
  'price_unit_amount',
  'price_unit_tiers',
] as const;

/** The price of one subscription in place of one of its plan; null where only its quantity is another. */
function overridden(
  { id }: Ordering,
  now: Instant,
  price: PriceRecord,
  { body, pointer }: Override,
  index: number,
): SoldPrice | null {
  if (figureNames.every((name) => body[name] === undefined || body[name] === null)) return null;
  const { price_id: _price, quantity: _quantity, ...asked } = body;
  const figures = below(pointer, () => repricedFigures(price, { ...asked, metadata: undefined }));
  return {
    ...soldOf(price),
    ...figures,
    id: sequencedId('price', now, id, index),
    parent_price_id: price.parent_price_id ?? price.id,
    entity_type: 'SUBSCRIPTION',
    entity_id: id,
    lookup_key: null,
  };
}

/** Does something for a part of the request; a problem with a field of it then says where it stands. */
function below<Value>(pointer: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || !error.errors) throw error;
    const [first] = error.errors;
    throw invalidField(`${pointer}${first?.pointer ?? ''}`, first?.message ?? error.message);
  }
}

/** A price of the catalogue as a line keeps it. */
function soldOf(price: PriceRecord): SoldPrice {
  const {
    is_final: _final,
    status: _status,
    tenant_id: _tenant,
    environment_id: _environment,
    created_at: _createdAt,
    created_by: _createdBy,
    updated_at: _updatedAt,
    updated_by: _updatedBy,
    entity_type,
    ...data
  } = price;
  if (entity_type === 'COSTSHEET') {
    throw invalidOperation(`The price ${price.id} is of a costsheet: nothing is sold under it.`, {
      reason: 'unsuitable',
    });
  }
  return { ...data, entity_type };
}

/** The subscription that a line is ordered for, and its place in the request. */
export interface LineOrdering {
  readonly id: SubscriptionId;
  readonly currency: Currency;
  readonly plan_name: string;
  readonly rhythm: Rhythm;
  readonly start: Instant;
  readonly pointer: string;
  /** The id of a price of its own. */
  readonly price_id: PriceId;
}

/** A line beside those of the plan: under a price of the catalogue, or one that is made for it. */
export async function extraLine(
  context: RequestContext,
  ordering: LineOrdering,
  line: OrderedLineBody,
): Promise<Omit<OrderedLine, 'meter_display_name'>> {
  const { id, currency, rhythm, start, plan_name, pointer } = ordering;
  const sold = line.price
    ? await ownPrice(context, ordering, line.price)
    : await catalogPrice(context, line.price_id ?? '', currency, pointer);
  if (!fitsRhythm(sold, rhythm)) {
    throw invalidField(
      line.price ? `${pointer}/price/billing_period` : `${pointer}/price_id`,
      `cannot be billed every ${rhythm.count} ${rhythm.unit}`,
    );
  }
  const from = line.start_date ?? (sold.start_date > start ? sold.start_date : null);
  if (line.start_date && line.start_date < start) {
    throw invalidField(`${pointer}/start_date`, 'must not be before the subscription starts');
  }
  if (line.end_date && line.end_date <= (from ?? start)) {
    throw invalidField(`${pointer}/end_date`, 'must be after the line starts');
  }
  return {
    entity_type: 'subscription',
    entity_id: id,
    entity_name: plan_name,
    price: sold,
    display_name: line.display_name || sold.display_name || plan_name,
    quantity: quantityOf(
      sold,
      (line.quantity ?? null) as DecimalText | null,
      `${pointer}/quantity`,
    ),
    from,
    end_date: line.end_date ?? null,
    metadata: line.metadata ?? {},
  };
}

async function ownPrice(
  context: RequestContext,
  { id, currency, start, pointer, price_id }: LineOrdering,
  price: NonNullable<OrderedLineBody['price']>,
): Promise<SoldPrice> {
  // Drafts of prices are of offers; this one gets another owner right away.
  const request = { ...price, entity_type: 'SUBSCRIPTION', entity_id: id, currency } as const;
  const owner = { entity_type: 'PLAN', entity_id: id } as const;
  const draft = await priceDrafts(context)(
    { ...request, entity_id: id as never, group_id: undefined },
    owner,
    `${pointer}/price`,
  );
  return {
    ...draft,
    id: price_id,
    entity_type: 'SUBSCRIPTION',
    start_date: draft.start_date ?? start,
  };
}

async function catalogPrice(
  context: RequestContext,
  id: string,
  currency: Currency,
  pointer: string,
): Promise<SoldPrice> {
  const found = await context.read.find(priceTable, id);
  const owner = found && (await context.load(offer, found.resource.entity_id));
  const price = owner?.prices.find((each) => each.id === id);
  if (!price || price.status === 'deleted') throw notFound('price', id, 'price_id');
  if (price.status !== 'published' || (price.end_date !== null && price.end_date <= context.now)) {
    throw invalidField(`${pointer}/price_id`, 'has ended: nothing can be sold under it any more');
  }
  if (price.currency !== currency) {
    throw invalidField(
      `${pointer}/price_id`,
      `is in ${price.currency}, the subscription in ${currency}`,
    );
  }
  return soldOf(price);
}

/** A line with the name of the meter that its usage is counted by. */
export async function withMeterName(
  context: RequestContext,
  line: Omit<OrderedLine, 'meter_display_name'>,
): Promise<OrderedLine> {
  const { meter_id } = line.price;
  const counted = meter_id === null ? null : await context.load(meter, meter_id);
  return { ...line, meter_display_name: counted?.name ?? null };
}
