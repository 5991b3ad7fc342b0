// biome-ignore-all lint/correctness/noUndeclaredDependencies: only tests import this file.
// Random lives of subscriptions, lived by the commands and by the independent model.
import {
  type Currency,
  type DecimalText,
  type Instant,
  instantOf,
  invariant,
  millisecondsOf,
} from '@counterfoil/kernel';
import {
  accountOf,
  chargedEvents,
  type ModelAct,
  type ModelLife,
  type ModelLine,
} from '@counterfoil/testkit';
import fc from 'fast-check';
import * as assert from 'uvu/assert';
import { priceFieldsOf } from '../offers/index.ts';
import { priceTermsOf } from '../pricing/index.ts';
import { rate, usageWindows } from '../rating/index.ts';
import type { SubscriptionState } from './subscription.ts';
import { Lived } from './test-lived.ts';
import { lineOf } from './test-order.ts';

const hour = 3_600_000;
const first = Date.UTC(2026, 0, 1);

const anyCommitment = fc.record({
  cents: fc.integer({ min: 1, max: 99_999 }),
  truesUp: fc.boolean(),
  isYearly: fc.boolean(),
});

const anyPrice = fc.record({
  kind: fc.constantFrom(
    'advance' as const,
    'advance' as const,
    'arrear' as const,
    'usage' as const,
  ),
  cents: fc.integer({ min: 1, max: 99_999 }),
  quantity: fc.integer({ min: 1, max: 9 }),
  commitment: fc.option(anyCommitment),
});
type AnyPrice = typeof anyPrice extends fc.Arbitrary<infer Value> ? Value : never;

/** Acts that every life can have, and those that only some have: after a pause other rules count the allowances. */
const plainKinds = ['quantity', 'quantity', 'look', 'cancel', 'end', 'on', 'revert'] as const;
const otherKinds = [
  ...(['quantity', 'quantity', 'look', 'end', 'revert'] as const),
  ...(['pause', 'pause', 'pause on', 'pause at end', 'resume', 'resume'] as const),
  ...(['add', 'add', 'remove', 'attach', 'attach', 'detach'] as const),
  ...(['change', 'change at end', 'trial', 'phase', 'phase'] as const),
] as const;
type Kind = (typeof plainKinds | typeof otherKinds)[number];

const anyActOf = (kinds: readonly Kind[]) =>
  fc.record({
    after: fc.integer({ min: 0, max: 24 * 40 }),
    minutes: fc.nat(59),
    prorates: fc.boolean(),
    kind: fc.constantFrom(...kinds),
    line: fc.nat(9),
    quantity: fc.integer({ min: 1, max: 9 }),
    ahead: fc.integer({ min: -24, max: 24 * 60 }),
    lasts: fc.option(fc.integer({ min: 1, max: 24 * 50 })),
    says: fc.boolean(),
    prices: fc.array(anyPrice, { minLength: 1, maxLength: 3 }),
    unit: fc.constantFrom('MONTHLY' as const, 'WEEKLY' as const, null, null),
  });
type AnyAct = ReturnType<typeof anyActOf> extends fc.Arbitrary<infer Value> ? Value : never;

const anyTermsOf = (kinds: readonly Kind[]) =>
  fc.record({
    start: fc.integer({ min: -24 * 120, max: 24 * 20 }),
    ends: fc.option(fc.integer({ min: 1, max: 24 * 400 })),
    trialDays: fc.constantFrom(0, 0, 0, 7, 30),
    ahead: fc.constantFrom(0, 330, -420),
    unit: fc.constantFrom(
      'MONTHLY' as const,
      'MONTHLY' as const,
      'WEEKLY' as const,
      'DAILY' as const,
    ),
    count: fc.integer({ min: 1, max: 3 }),
    anchor: fc.oneof(
      fc.constantFrom('start' as const, 'calendar' as const),
      fc.integer({ min: -24 * 60, max: 24 * 60 }).map((hours) => first + hours * hour),
    ),
    prorates: fc.boolean(),
    prices: fc.array(anyPrice, { minLength: 1, maxLength: 4 }),
    acts: fc.array(anyActOf(kinds), { maxLength: 8 }),
    commitment: fc.option(anyCommitment),
    allowance: fc.record({
      limit: fc.nat(12),
      resets: fc.constantFrom('DAILY' as const, 'WEEKLY' as const, 'MONTHLY' as const, null),
    }),
    used: fc.array(fc.integer({ min: 0, max: 24 * 200 }), { maxLength: 40 }),
  });
type AnyTerms = ReturnType<typeof anyTermsOf> extends fc.Arbitrary<infer Value> ? Value : never;

/** A life, and usage of it that an allowance makes partly free. */
export interface AnyLife {
  readonly life: ModelLife;
  /** Null in a life in which not all periods follow from its terms. */
  readonly allowance: {
    readonly limit: number;
    readonly resets: ModelLife['unit'] | null;
  } | null;
  readonly used: readonly number[];
}

/** Everything that an act can be about. */
interface Known {
  readonly names: string[];
  readonly addons: string[];
  readonly sell: (price: AnyPrice, name: string) => ModelLine;
  readonly unit: ModelLife['unit'];
  readonly count: number;
}

function lifeOf(terms: AnyTerms, isPlain: boolean): AnyLife {
  const { start, ends, prices, acts, allowance, used, commitment, ...rest } = terms;
  const begin = first + start * hour;
  let now = first;
  // Usage is committed to by line, or all of it together.
  const sell = (price: AnyPrice, name: string): ModelLine => {
    const own = commitment === null && price.kind === 'usage' ? price.commitment : null;
    return { ...price, name, commitment: own && { ...own, isYearly: false } };
  };
  const lines = prices.map((price, index) => sell(price, `line ${index}`));
  const known: Known = { ...rest, names: lines.map(({ name }) => name), addons: [], sell };
  // A year is a number of months, and of no other unit.
  const ofMonths = rest.unit === 'MONTHLY' && acts.every(({ unit }) => unit !== 'WEEKLY');
  return {
    life: {
      ...rest,
      ordered: first,
      start: begin,
      end: ends === null ? null : begin + ends * hour,
      lines,
      commitment: commitment && { ...commitment, isYearly: commitment.isYearly && ofMonths },
      acts: acts.map((act, place): ModelAct => {
        now += act.after * hour + act.minutes * 60_000;
        return actOf(act, { at: now, place }, known);
      }),
    },
    allowance: isPlain ? allowance : null,
    used: used.map((hours) => begin + hours * hour),
  };
}

/** Lives with all acts that the model knows. */
export const anyLife: fc.Arbitrary<AnyLife> = fc.oneof(
  { arbitrary: anyTermsOf(plainKinds).map((terms) => lifeOf(terms, true)), weight: 1 },
  { arbitrary: anyTermsOf(otherKinds).map((terms) => lifeOf(terms, false)), weight: 2 },
);

function actOf(
  act: AnyAct,
  { at, place }: { readonly at: number; readonly place: number },
  { names, addons, sell, unit, count }: Known,
): ModelAct {
  const { kind, prorates, quantity, says: bills, prices } = act;
  const line = names[act.line % names.length] ?? '';
  const on = at + act.ahead * hour;
  const until = (from: number) => (act.lasts === null ? null : from + act.lasts * hour);
  const base = { at, prorates };
  switch (kind) {
    case 'quantity':
      return { ...base, kind, line, quantity };
    case 'on':
      return { ...base, kind: 'cancel on', on };
    case 'end':
      return { ...base, kind: 'cancel at end' };
    case 'pause':
      return { ...base, kind, until: until(at), bills };
    case 'pause at end':
      return { ...base, kind, until: until(at + 24 * 90 * hour), bills };
    case 'pause on':
      return { ...base, kind, on, until: until(on), bills };
    case 'add': {
      const name = `added ${place}`;
      names.push(name);
      return { ...base, kind, added: sell(prices[0] as AnyPrice, name) };
    }
    case 'remove':
      return { ...base, kind, line };
    case 'attach': {
      const addon = `addon ${place}`;
      const lines = prices.map((price, index) => sell(price, `${addon} ${index}`));
      addons.push(addon);
      names.push(...lines.map(({ name }) => name));
      return { ...base, kind, addon, isOnce: act.says, lines };
    }
    case 'detach':
      return { ...base, kind, addon: addons[act.line % addons.length] ?? '', isNow: act.says };
    case 'change':
    case 'change at end': {
      const plan = {
        // Nothing of another rhythm fits: single lines with longer periods are not known to the model.
        ...(act.unit === null || act.unit === unit
          ? { unit, count }
          : { unit: act.unit, count: 1 }),
        anchor: act.says ? ('calendar' as const) : ('start' as const),
        lines: prices.map((price, index) => ({ ...sell(price, `line ${index}`), quantity: 1 })),
      };
      return { ...base, kind, plan };
    }
    case 'phase': {
      const lines = prices.map((price, index) => sell(price, `phase ${place} ${index}`));
      names.push(...lines.map(({ name }) => name));
      // It never meets an end, which lies on an hour.
      return { ...base, kind, on: on + 1_000, lines };
    }
    case 'trial':
      return { ...base, kind, to: act.says ? at : on };
    default:
      return { ...base, kind };
  }
}

/** Lives a life both ways, and holds the one against the other. */
export function assertSameLife({ life, allowance, used }: AnyLife): void {
  const lived = new Lived(life);
  assert.equal(lived.run(), accountOf(life));
  if (allowance === null) return;
  const { state } = lived;
  invariant(state, 'a subscription was created');
  for (const span of lived.billed) {
    const charged = chargedEvents(life, used, span, allowance);
    assert.is(ratedQuantity(state, used, span, allowance), String(charged));
  }
}

/** The quantity that the service charges for the events of a span. */
function ratedQuantity(
  state: NonNullable<SubscriptionState>,
  events: AnyLife['used'],
  { from, to }: { readonly from: number; readonly to: number },
  { limit, resets }: NonNullable<AnyLife['allowance']>,
): string {
  const period = { start: instantOf(from), end: instantOf(to) };
  const { cycle, timezone: zone, trial, start_date } = state;
  const usedIn = (span: { start: Instant; end: Instant } | null): DecimalText => {
    if (span === null) return '0' as DecimalText;
    const [low, high] = [millisecondsOf(span.start), millisecondsOf(span.end)];
    return String(events.filter((at) => at >= low && at < high).length) as DecimalText;
  };
  const windows = usageWindows(period, 'COUNT', {
    ...{ resets: resets ?? 'NEVER', billing: period, anchor: cycle.anchor, zone },
    start: trial?.end ?? start_date,
  }).map(({ start, end, before, through }) => ({
    ...{ start, end },
    ...{ before: usedIn(before), through: usedIn(through) },
  }));
  const metered_by = {
    ...{ meter_id: 'meter_01', aggregation: 'COUNT' as const },
    ...{ events: events.length, position: '0' },
  };
  return rate({
    kind: 'usage',
    currency: 'usd' as Currency,
    terms: priceTermsOf(priceFieldsOf(lineOf({ type: 'USAGE' }).price)),
    period,
    commitment: null,
    usage: { kind: 'windows', metered_by, windows },
    allowance: {
      limit: String(limit) as DecimalText,
      resets: resets ?? 'NEVER',
    },
  }).quantity;
}
