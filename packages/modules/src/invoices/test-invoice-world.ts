import type { AnyRoute, Parts, Reaction } from '@counterfoil/engine/define';
import {
  type AnyAggregate,
  type DecimalText,
  type Instant,
  instantOf,
  invariant,
  millisecondsOf,
  Problem,
  type Span,
} from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import type { MemoryWorld, RawInput } from '@counterfoil/testkit';
import {
  callRoute,
  MemoryStore,
  memoryDueRows,
  memoryWorld,
  testPrincipal,
  // biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
} from '@counterfoil/testkit';
import { coupon, couponRedemptions, coupons } from '../coupons/index.ts';
import { customer, customers } from '../customers/index.ts';
import { feature, features } from '../features/index.ts';
import { meter, meters } from '../meters/index.ts';
import { offer, offers } from '../offers/index.ts';
import { setting, settings } from '../settings/index.ts';
import { creditsOfSettlements, subscription, subscriptions } from '../subscriptions/index.ts';
import { taxAssociations } from '../tax-associations/index.ts';
import { taxAssociation, taxes, taxRate } from '../taxes/index.ts';
import { wallet, wallets } from '../wallets/index.ts';
import type { UsageAt } from './computing-again/again.ts';
import { couponsLeft } from './coupon-returns.ts';
import { couponUse } from './coupons.ts';
import { lowerDebts } from './credits/lower-debts.ts';
import { chargesNoted, leftOverGiven } from './credits/reactions.ts';
import { settlementsDrafted } from './drafting/reactions.ts';
import { draftsDue } from './finalizing/due.ts';
import { creditsCaptured, finalizationCarriedOut } from './finalizing/reactions.ts';
import { firstPayments, unpaidEnds } from './first-payment/reactions.ts';
import { amountsOf, type Invoice, invoice } from './invoice.ts';
import { invoiceSequence } from './sequence.ts';
import { settlePayment } from './settling/payments.ts';
import type { UsageReadings } from './usage-readings.ts';

/** Everything that a world with invoices has streams of. */
export const invoiceAggregates = [
  ...[customer, meter, feature, offer, wallet, subscription, setting],
  ...[taxRate, taxAssociation, coupon, couponRedemptions],
  ...[invoice, invoiceSequence, couponUse],
];

/** The day of a month of 2026, at an hour in UTC. */
export const day = (month: number, date: number, hour = 0): Instant =>
  instantOf(Date.UTC(2026, month - 1, date, hour));

/** One use of the meter. */
interface Call {
  readonly customerId: string;
  readonly at: Instant;
  readonly source?: string;
  readonly properties?: Readonly<Record<string, string>>;
}

/** The routes of everything that invoices are made of. */
export const routesAround: Readonly<Record<string, AnyRoute>> = Object.assign(
  {},
  ...[customers, meters, features, offers, coupons, taxes, taxAssociations, settings].map(
    (slice) => slice.routes,
  ),
  subscriptions.routes,
  wallets.routes,
);

/**
 * A world with a customer, who is taxed at ten percent, and a plan of a hundred dollars a month in advance and calls at two cents up
 * to a thousand and one above, of which a hundred a month are free (E 31). The time is the start of 2026.
 */
export async function invoiceWorld(others: readonly AnyAggregate[] = [], parts?: Parts) {
  const world = memoryWorld([...invoiceAggregates, ...others], new MemoryStore(), parts);
  const calls: Call[] = [];
  const usage = usageOf(calls);
  const reactions = reactionsWith(usage);
  const request = (by: MemoryWorld = world) => by.request(testPrincipal());
  const call = async <Answer = { readonly id: string }>(
    name: string,
    { by, ...input }: RawInput & { readonly by?: MemoryWorld },
  ): Promise<Answer> => {
    const route = routesAround[name];
    invariant(route, `there is no ${name}`);
    return (await callRoute(route, request(by), input)) as Answer;
  };
  const post = (name: string, body: object) => call(`POST ${name}`, { body });
  const made = await post('/customers', { name: 'Ada', external_id: 'ada' });
  const sold = await soldPlan(post);
  await post('/taxes/rates', { name: 'VAT', code: 'VAT', percentage_value: '10' });
  const taxed = { tax_rate_code: 'VAT', entity_type: 'customer', entity_id: made.id };
  await post('/taxes/associations', taxed);
  const settle = (by: MemoryWorld = world) => settled(by, reactions);
  return {
    world,
    calls,
    readings: usage,
    /** The calls that were noted up to a position: there is one after each. */
    usageAt: usageAtOf(calls),
    customerId: made.id,
    ...sold,
    call,
    post,
    request,
    settle,
    reactions,
    usage,
    /** Another process over the same log, or over another one. */
    another: (store = world.store) =>
      Object.assign(memoryWorld([...invoiceAggregates, ...others], store, parts), {
        now: world.now,
      }),
    create: (body: object = {}) =>
      post('/subscriptions', {
        external_customer_id: 'ada',
        plan_id: sold.planId,
        currency: 'usd',
        billing_period: 'MONTHLY',
        ...body,
      }),
    wallet: (credits: string, body: object = {}) =>
      post('/wallets', {
        customer_id: made.id,
        currency: 'usd',
        initial_credits_to_load: credits,
        ...body,
      }),
    coupon: (body: object = {}) =>
      post('/coupons', {
        name: 'Ten',
        type: 'percentage',
        percentage_off: '10',
        cadence: 'forever',
        ...body,
      }),
    /** So many calls, each a minute after the one before. */
    use: (count: number, from: Instant, source = ''): void => {
      for (let number = 0; number < count; number += 1) {
        const at = instantOf(millisecondsOf(from) + number * 60_000);
        calls.push({ customerId: made.id, at, source });
      }
    },
    /** The clock at a later instant, with everything done that comes by then, in order. */
    pass: (to: Instant) => passed(world, to, settle),
    /** All invoices, oldest first. */
    invoices: async (): Promise<readonly Invoice[]> => {
      const ids = streamsOf(world, 'invoice');
      const states = await Promise.all(ids.map((id) => request().load(invoice, id)));
      return states.flatMap((state) => state ?? []);
    },
    /** Pays everything that is owed. */
    pay: () => paid(world),
    balance: async (id: string) => (await request().load(wallet, id))?.credit_balance,
    typesOf: (category: string) =>
      world.store.log.flatMap(({ stream, type }) =>
        stream.startsWith(`${category}-`) ? [type] : [],
      ),
  };
}

/** Everything that follows by itself until invoices are final, with usage that is read in some way. */
export const reactionsWith = (usage: UsageReadings): readonly Reaction[] => [
  ...(subscriptions.reactions ?? []),
  creditsOfSettlements(lowerDebts),
  settlementsDrafted(usage),
  finalizationCarriedOut(usage),
  creditsCaptured,
  couponsLeft,
  chargesNoted,
  leftOverGiven,
  firstPayments,
  unpaidEnds,
];

async function soldPlan(post: (name: string, body: object) => Promise<{ readonly id: string }>) {
  const { id: meterId } = await post('/meters', {
    name: 'Calls',
    event_name: 'call',
    aggregation: { type: 'COUNT' },
    reset_usage: 'BILLING_PERIOD',
  });
  const { id: planId } = await post('/plans', { name: 'Pro' });
  const price = {
    entity_type: 'PLAN',
    entity_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2020-01-01T00:00:00Z',
  };
  const base = await post('/prices', {
    ...price,
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', invoice_cadence: 'ADVANCE', amount: '100' },
    display_name: 'Base',
  });
  await post('/prices', {
    ...price,
    ...{ type: 'USAGE', billing_model: 'TIERED', tier_mode: 'SLAB', invoice_cadence: 'ARREAR' },
    meter_id: meterId,
    display_name: 'Calls',
    tiers: [{ up_to: 1000, unit_amount: '0.02' }, { unit_amount: '0.01' }],
  });
  const { id: feature_id } = await post('/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: meterId },
  });
  await post('/entitlements', {
    ...{ plan_id: planId, feature_id, feature_type: 'metered', usage_limit: 100 },
    usage_reset_period: 'MONTHLY',
  });
  return { planId, meterId, basePriceId: base.id };
}

type Stretches = readonly { readonly customerIds: readonly string[]; readonly span: Span }[];

/** The part of a question about usage that counting calls depends on. */
interface Counted {
  readonly stretches: Stretches;
  readonly groupings: readonly unknown[];
  readonly filters: readonly { readonly key: string; readonly values: readonly string[] }[];
}

const callsIn = (calls: readonly Call[], stretches: Stretches): readonly Call[] =>
  stretches.flatMap(({ customerIds, span }) =>
    calls.filter(
      ({ customerId, at }) => customerIds.includes(customerId) && span.start <= at && at < span.end,
    ),
  );

/** The number of calls that pass filters; by their source where there are groups. */
function countOf(calls: readonly Call[], { stretches, groupings, filters }: Counted) {
  const counted = callsIn(calls, stretches).filter(({ properties = {} }) =>
    filters.every(({ key, values }) => values.includes(properties[key] ?? '')),
  );
  const inGroup = (group: readonly string[], events: number) => ({
    ...{ group, events, windows: [] },
    value: String(events) as DecimalText,
  });
  if (groupings.length === 0) return [inGroup([], counted.length)];
  const sources = Map.groupBy(counted, ({ source = '' }) => source);
  return [...sources].map(([source, same]) => inGroup([source], same.length));
}

/** Usage that is counted as it was noted, without tables. */
function usageOf(calls: readonly Call[]): UsageReadings {
  const reading: UsageReadings['byNow'] = async (context) => ({
    context,
    moment: {
      position: String(calls.length),
      usageIn: async (_context, asked) => countOf(calls, asked),
    },
  });
  return { atOnce: reading, byNow: reading };
}

const usageAtOf =
  (calls: readonly Call[]): UsageAt =>
  (position) => {
    const then = () => calls.slice(0, Number(position));
    return {
      inStretches: async (_context, asked) => countOf(then(), asked),
      async *events(_context, { stretches }, after = null) {
        const all = callsIn(then(), stretches).toSorted((left, right) =>
          left.at < right.at ? -1 : 1,
        );
        for (const { at } of all) {
          if (after !== null && at <= after.at) continue;
          const event_id = `call at ${at}`;
          yield {
            at,
            event_id,
            position: '1',
            number: 0,
            account: '1',
            source: null,
            properties: {},
          };
        }
      },
    };
  };

const streamsOf = ({ store }: MemoryWorld, category: string): readonly string[] => [
  ...new Set(
    store.log.flatMap(({ stream }) =>
      stream.startsWith(`${category}-`) ? [stream.slice(stream.indexOf('.') + 1)] : [],
    ),
  ),
];

async function paid(world: MemoryWorld): Promise<void> {
  const context = world.request(testPrincipal());
  for (const id of streamsOf(world, 'invoice')) {
    const state = await context.load(invoice, id);
    if (state?.invoice_status !== 'FINALIZED') continue;
    const { amount_remaining: amount } = amountsOf(state);
    if (amount === '0') continue;
    const money = { payment_id: `pay_${id}`, method: 'OFFLINE' as const, amount };
    await context.execute(invoice, id, settlePayment(money));
  }
}

/** Hands every event to every reaction, until they bring about nothing more; a reaction that fails is tried again later. */
export async function settled(by: MemoryWorld, reactions: readonly Reaction[]): Promise<void> {
  for (let before = -1; before !== by.store.log.length; ) {
    before = by.store.log.length;
    for (const reaction of reactions) {
      for (const id of streamsOf(by, reaction.aggregate.name)) await handOver(by, reaction, id);
    }
  }
}

async function handOver(by: MemoryWorld, reaction: Reaction, id: string): Promise<void> {
  const context = by.request(testPrincipal());
  const { aggregate } = reaction;
  for await (const event of context.history(aggregate, id)) {
    const { revision } = event;
    await context.carryOut(reaction, id, {
      events: [event],
      revision,
      state: null,
      replayed: false,
    });
  }
}

const due = [...(subscriptions.dueWork ?? []), ...(wallets.dueWork ?? []), draftsDue];

/** Lets a clock come to a later instant, with everything done that falls due on the way, and all that follows settled each time. */
export async function passed(
  world: MemoryWorld,
  to: Instant,
  settle: () => Promise<void>,
): Promise<void> {
  await settle();
  for (;;) {
    const rows = due.flatMap((work) =>
      memoryDueRows(world.store, work, testPrincipal(), to).map((row) => ({ work, row })),
    );
    const [first] = rows.toSorted((left, right) => (left.row.due_at < right.row.due_at ? -1 : 1));
    if (!first) break;
    if (first.row.due_at > world.now) world.now = first.row.due_at;
    const before = world.store.log.length;
    try {
      await first.work.run(world.request(testPrincipal()), first.row.id);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    invariant(world.store.log.length > before, `${first.work.name} of ${first.row.id} stays due`);
    await settle();
  }
  world.now = to;
}
