// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
import { parseStreamName } from '@counterfoil/engine';
import type { Reaction } from '@counterfoil/engine/define';
import {
  decimal,
  type Instant,
  instantOf,
  invariant,
  millisecondsOf,
  textOf,
  zero,
} from '@counterfoil/kernel';
import type {
  BilledAct,
  BilledItem,
  BilledLife,
  BilledPrice,
  MemoryWorld,
  ShownBill,
  ShownLine,
} from '@counterfoil/testkit';
import { callRoute, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { subscription } from '../subscriptions/index.ts';
import { wallet } from '../wallets/index.ts';
import type { InvoiceLine } from './events.ts';
import { amountsOf, type Invoice, invoice } from './invoice.ts';
import { settlePayment } from './settling/payments.ts';
import { invoiceAggregates, passed, reactionsWith, routesAround } from './test-invoice-world.ts';
import type { UsageReadings } from './usage-readings.ts';

const currencies: Readonly<Record<number, string>> = { 0: 'jpy', 2: 'usd', 3: 'kwd' };
const periods: Readonly<Record<number, string>> = { 1: 'MONTHLY', 3: 'QUARTERLY' };

/** The outcome of a life in the service, as the model shows it. */
export interface LivedYear {
  readonly bills: readonly ShownBill[];
  readonly balance: string;
}

/** A life of a subscription in the service: through its routes, on a clock, each invoice paid as soon as it is final. */
export class YearWorld {
  readonly #life: BilledLife;
  readonly #currency: string;
  readonly #world = memoryWorld(invoiceAggregates);
  readonly #reactions: readonly Reaction[];
  readonly #walletIds: string[] = [];
  #settledUpTo = 0;
  #subscriptionId = '';
  #planId = '';

  constructor(life: BilledLife) {
    this.#life = life;
    this.#currency = currencies[life.digits] ?? 'usd';
    this.#world.now = instantOf(life.start);
    this.#reactions = reactionsWith(this.#readings());
  }

  /** Sells what is sold, and lets the year pass. */
  async live(): Promise<LivedYear> {
    await this.#sell();
    await this.#settle();
    for (const act of this.#life.acts) {
      await this.#passTo(act.at);
      if ((await this.#state())?.subscription_status === 'cancelled') break;
      await this.#act(act);
      await this.#settle();
    }
    await this.#passTo(this.#life.until);
    return { bills: await this.#bills(), balance: await this.#balance() };
  }

  /** The number of events in the log. */
  get events(): number {
    return this.#world.store.log.length;
  }

  get world(): MemoryWorld {
    return this.#world;
  }

  #request() {
    return this.#world.request(testPrincipal());
  }

  #state() {
    return this.#request().load(subscription, this.#subscriptionId);
  }

  async #call(name: string, body: object, params: object = {}): Promise<string> {
    const route = routesAround[name];
    invariant(route, `there is no ${name}`);
    const answer = (await callRoute(route, this.#request(), { body, params })) as { id: string };
    return answer?.id;
  }

  #passTo(at: number): Promise<void> {
    return passed(this.#world, instantOf(at), () => this.#settle());
  }

  /** Money in the currency. */
  #money(units: number): string {
    return textOf(decimal(`${units}e-${this.#life.digits}`));
  }

  async #sell(): Promise<void> {
    const { items, months, anchor, prorates, free, rates } = this.#life;
    await this.#call('POST /customers', {
      ...{ name: 'Eve', external_id: 'eve' },
      ...(this.#life.isExempt ? { tax_exemption: { number: 'EX-1' } } : {}),
    });
    for (const [place, rate] of rates.entries()) await this.#tax(rate, place);
    this.#planId = await this.#call('POST /plans', { name: 'Year' });
    const priceIds = new Map<string, string>();
    const meterIds = new Map<string, string>();
    for (const item of items) {
      const { priceId, meterId } = await this.#price(item);
      priceIds.set(item.name, priceId);
      if (meterId !== null) meterIds.set(item.name, meterId);
    }
    for (const { line, limit, resets } of free) {
      const of = { type: 'metered', meter_id: meterIds.get(line) };
      const feature_id = await this.#call('POST /features', { name: line, ...of });
      await this.#call('POST /entitlements', {
        ...{ plan_id: this.#planId, feature_id, feature_type: 'metered' },
        ...{ usage_limit: limit, usage_reset_period: resets },
      });
    }
    for (const [place, { units, pays }] of this.#life.wallets.entries()) {
      const id = await this.#call('POST /wallets', {
        ...{ external_customer_id: 'eve', currency: this.#currency, allow_multiple: true },
        ...{ priority: place, initial_credits_to_load: this.#money(units) },
      });
      await this.#call('PUT /wallets/{id}', { config: { allowed_price_types: [pays] } }, { id });
      this.#walletIds.push(id);
    }
    this.#subscriptionId = await this.#call('POST /subscriptions', {
      ...{ external_customer_id: 'eve', plan_id: this.#planId, currency: this.#currency },
      billing_period: periods[months],
      billing_cycle: anchor === 'calendar' ? 'calendar' : 'anniversary',
      proration_behavior: prorates ? 'create_prorations' : 'none',
      override_line_items: items
        .filter(({ kind }) => kind !== 'usage')
        .map(({ name, quantity }) => ({
          price_id: priceIds.get(name),
          quantity: String(quantity),
        })),
      ...(await this.#coupons(priceIds)),
    });
  }

  async #tax(rate: BilledLife['rates'][number], place: number): Promise<void> {
    const tax_rate_code = `T${place}`;
    const named = { name: tax_rate_code, code: tax_rate_code };
    const value =
      'percent' in rate
        ? { percentage_value: rate.percent }
        : { fixed_value: this.#money(rate.units) };
    await this.#call('POST /taxes/rates', { ...named, ...value });
    const owner = { entity_type: 'customer', external_customer_id: 'eve', priority: place };
    await this.#call('POST /taxes/associations', { tax_rate_code, ...owner });
  }

  async #price({ name, kind, price, months, isInclusive }: BilledItem) {
    const meterId =
      kind === 'usage'
        ? await this.#call('POST /meters', {
            ...{ name, event_name: name, reset_usage: 'BILLING_PERIOD' },
            aggregation: { type: 'SUM', field: 'value' },
          })
        : null;
    const priceId = await this.#call('POST /prices', {
      ...{ entity_type: 'PLAN', entity_id: this.#planId, currency: this.#currency },
      ...{ billing_period: periods[months], display_name: name },
      type: kind === 'usage' ? 'USAGE' : 'FIXED',
      invoice_cadence: kind === 'advance' ? 'ADVANCE' : 'ARREAR',
      start_date: '2020-01-01T00:00:00Z',
      ...(meterId === null ? {} : { meter_id: meterId }),
      ...(isInclusive ? { tax_behavior: 'inclusive' } : {}),
      ...termsOf(price),
    });
    return { priceId, meterId };
  }

  async #coupons(priceIds: ReadonlyMap<string, string>) {
    const coupons: string[] = [];
    const ofLines: Record<string, string[]> = {};
    for (const [place, { line, off, counts }] of this.#life.discounts.entries()) {
      const isFixed = 'units' in off;
      const id = await this.#call('POST /coupons', {
        name: `Coupon ${place}`,
        type: isFixed ? 'fixed' : 'percentage',
        ...(isFixed
          ? { amount_off: this.#money(off.units), currency: this.#currency }
          : { percentage_off: off.percent }),
        cadence: typeof counts === 'string' ? counts : 'repeated',
        ...(typeof counts === 'string' ? {} : { duration_in_periods: counts.periods }),
      });
      const priceId = line === null ? undefined : priceIds.get(line);
      if (priceId === undefined) coupons.push(id);
      else ofLines[priceId] = [...(ofLines[priceId] ?? []), id];
    }
    return { coupons, line_item_coupons: ofLines };
  }

  async #lineOf(name: string): Promise<string | null> {
    const state = await this.#state();
    const found = state?.lines.find(
      ({ display_name, end_date }) => display_name === name && end_date === null,
    );
    return found?.id ?? null;
  }

  async #act(act: BilledAct): Promise<void> {
    const id = this.#subscriptionId;
    const proration_behavior = act.prorates ? 'create_prorations' : 'none';
    switch (act.kind) {
      case 'quantity': {
        const line = await this.#lineOf(act.line);
        if (line === null) return;
        const line_items = [{ id: line, quantity: String(act.quantity) }];
        const body = { type: 'quantity_change', quantity_change_params: { line_items } };
        await this.#call('POST /subscriptions/{id}/modify/execute', body, { id });
        return;
      }
      case 'add': {
        const { priceId: price_id } = await this.#price(act.item);
        const quantity = String(act.item.quantity);
        const body = { price_id, quantity, proration_behavior };
        await this.#call('POST /subscriptions/{id}/lineitems', body, { id });
        return;
      }
      case 'remove': {
        const line = await this.#lineOf(act.line);
        if (line === null) return;
        const route = 'DELETE /subscriptions/lineitems/{id}';
        await this.#call(route, { proration_behavior }, { id: line });
        return;
      }
      case 'cancel':
      case 'cancel at end':
      case 'cancel on':
        await this.#call(
          'POST /subscriptions/{id}/cancel',
          {
            cancellation_type: cancellationTypes[act.kind],
            ...(act.kind === 'cancel on' ? { cancel_at: instantOf(act.on) } : {}),
            proration_behavior,
          },
          { id },
        );
        return;
      default:
        act satisfies never;
    }
  }

  /** Usage that has come by now. */
  #readings(): UsageReadings {
    const reading: UsageReadings['byNow'] = async (context) => ({
      context,
      moment: {
        position: '0',
        usageIn: async (_context, { eventName, stretches }) => {
          const own = this.#life.uses.filter(
            ({ line, at, arrives }) =>
              line === eventName &&
              instantOf(arrives) <= this.#world.now &&
              stretches.some(
                ({ span }) => millisecondsOf(span.start) <= at && at < millisecondsOf(span.end),
              ),
          );
          const sum = own.reduce((all, { value }) => all.plus(decimal(value)), zero);
          return [{ group: [], value: textOf(sum), events: own.length, windows: [] }];
        },
      },
    });
    return { atOnce: reading, byNow: reading };
  }

  /** Hands every new event to every reaction that it concerns, and pays what has become final. */
  async #settle(): Promise<void> {
    const { log } = this.#world.store;
    for (; this.#settledUpTo < log.length; this.#settledUpTo += 1) {
      const stored = log[this.#settledUpTo];
      const stream = stored && parseStreamName(stored.stream);
      if (!stored || !stream) continue;
      for (const reaction of this.#reactions) {
        if (reaction.aggregate.name !== stream.category || !(stored.type in reaction.on)) continue;
        await this.#handOver(reaction, stream.id, stored.revision);
      }
      if (stored.type === 'InvoiceFinalized') await this.#pay(stream.id);
    }
  }

  async #handOver(reaction: Reaction, id: string, revision: number): Promise<void> {
    const context = this.#request();
    const range = { from: revision, maximum: 1 };
    for await (const event of context.history(reaction.aggregate, id, range)) {
      const outcome = { events: [event], revision, state: null, replayed: false };
      await context.carryOut(reaction, id, outcome);
    }
  }

  async #pay(id: string): Promise<void> {
    const context = this.#request();
    const state = await context.load(invoice, id);
    const amount = state === null ? '0' : amountsOf(state).amount_remaining;
    if (amount === '0') return;
    const money = { payment_id: `pay_${id}`, method: 'OFFLINE' as const, amount };
    await context.execute(invoice, id, settlePayment(money as never));
  }

  /** Invoices in the order in which they were made final, or left behind. */
  async #bills(): Promise<readonly ShownBill[]> {
    const bills: ShownBill[] = [];
    for (const { stream, type } of this.#world.store.log) {
      if (type !== 'InvoiceFinalized' && type !== 'InvoiceSkipped') continue;
      const state = await this.#request().load(invoice, parseStreamName(stream)?.id ?? '');
      if (state !== null) bills.push(shownBill(state));
    }
    return bills;
  }

  async #balance(): Promise<string> {
    const made = this.#world.store.log.flatMap(({ stream, revision }) =>
      stream.startsWith('wallet-') && revision === 0 ? [parseStreamName(stream)?.id ?? ''] : [],
    );
    const states = await Promise.all(made.map((id) => this.#request().load(wallet, id)));
    const left = states.reduce(
      (sum, state) => sum.plus(decimal(state?.credit_balance ?? '0')),
      zero,
    );
    return textOf(left);
  }
}

const cancellationTypes = {
  cancel: 'immediate',
  'cancel at end': 'end_of_period',
  'cancel on': 'scheduled_date',
} as const;

/** The members of a request for a price. */
function termsOf(price: BilledPrice): object {
  switch (price.model) {
    case 'flat':
      return { billing_model: 'FLAT_FEE', amount: price.each };
    case 'package':
      return {
        ...{ billing_model: 'PACKAGE', amount: price.each },
        transform_quantity: { divide_by: price.of, round: price.round },
      };
    case 'graduated':
    case 'volume':
      return {
        billing_model: 'TIERED',
        tier_mode: price.model === 'graduated' ? 'SLAB' : 'VOLUME',
        tiers: price.tiers.map(({ upTo, each, flat }) => ({
          ...(upTo === null ? {} : { up_to: Number(upTo) }),
          ...{ unit_amount: each, flat_amount: flat },
        })),
      };
    default:
      return price satisfies never;
  }
}

const moment = (at: Instant | null): number => (at === null ? 0 : millisecondsOf(at));

const shownLine = (line: InvoiceLine): ShownLine => ({
  kind: line.kind as ShownLine['kind'],
  name: line.display_name,
  from: moment(line.period_start),
  to: moment(line.period_end),
  quantity: line.quantity,
  amount: line.amount,
  line_discount: line.line_discount,
  invoice_discount: line.invoice_discount,
  credits: line.credits,
  tax: line.tax,
  included_tax: line.included_tax ?? '0',
});

const shownBill = (state: Invoice): ShownBill => ({
  reason: state.billing_reason as ShownBill['reason'],
  number: state.invoice_number,
  lines: state.lines.map(shownLine),
  subtotal: state.subtotal,
  total_discount: state.total_discount,
  total_credits: state.total_credits,
  total_tax: state.total_tax,
  is_exempt: state.tax_exemption !== null,
  total: state.total,
});
