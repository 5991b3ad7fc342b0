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
  type ModelCoupon,
  type ModelGrant,
  type ModelLife,
  type ModelLine,
  type ModelPhase,
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

const units = ['MONTHLY', 'MONTHLY', 'WEEKLY', 'DAILY'] as const;

const anyGrant = fc.record({
  credits: fc.integer({ min: 1, max: 1_000 }),
  unit: fc.constantFrom(...units, null),
  count: fc.integer({ min: 1, max: 3 }),
  expires: fc.oneof(
    fc.constantFrom('never' as const, 'with the period' as const),
    fc.record({ unit: fc.constantFrom(...units), count: fc.integer({ min: 1, max: 40 }) }),
  ),
});
type AnyGrant = typeof anyGrant extends fc.Arbitrary<infer Value> ? Value : never;

/** Everything beside lines and time that a subscription can begin with. */
const anyBeside = fc.record({
  phases: fc.array(
    fc.record({
      hours: fc.integer({ min: 1, max: 24 * 60 }),
      prices: fc.array(anyPrice, { minLength: 1, maxLength: 2 }),
    }),
    { maxLength: 3, size: 'max' },
  ),
  grants: fc.array(anyGrant, { maxLength: 2 }),
  ownGrants: fc.array(
    fc.record({ grant: anyGrant, from: fc.option(fc.integer({ min: 0, max: 24 * 60 })) }),
    { maxLength: 1 },
  ),
  coupons: fc.array(
    fc.record({
      of: fc.constantFrom('all' as const, 'line' as const, 'phase' as const),
      place: fc.nat(9),
      lasts: fc.option(fc.integer({ min: 1, max: 24 * 200 })),
    }),
    { maxLength: 2 },
  ),
  heirs: fc.subarray(['ben', 'cal']),
  payer: fc.option(fc.constant('dan')),
});
type AnyBeside = typeof anyBeside extends fc.Arbitrary<infer Value> ? Value : never;

const nothingBeside = {
  ...{ phases: [], grants: [], ownGrants: [], coupons: [], heirs: [], payer: null },
} satisfies AnyBeside;

/** Acts that every life can have, and those that only some have: after a pause other rules count the allowances. */
const plainKinds = [
  ...(['quantity', 'quantity', 'look', 'cancel', 'end', 'on', 'revert'] as const),
  ...(['pay', 'pay', 'expire'] as const),
] as const;
const otherKinds = [
  ...(['quantity', 'quantity', 'look', 'end', 'revert', 'pay', 'pay', 'expire'] as const),
  ...(['pause', 'pause', 'pause on', 'pause at end', 'resume', 'resume'] as const),
  ...(['add', 'add', 'remove', 'attach', 'attach', 'detach'] as const),
  ...(['change', 'change at end', 'trial', 'phase', 'phase'] as const),
] as const;
/** Acts on what is beside lines and time, with those that it depends on. */
const besideKinds = [
  ...(['grant', 'grant', 'end grant', 'share', 'share', 'unshare', 'unshare', 'group'] as const),
  ...(['phase', 'drop phase', 'drop phase', 'drop phase', 'attach', 'attach', 'detach'] as const),
  ...(['look', 'quantity', 'pause', 'pause at end', 'resume', 'trial', 'trial'] as const),
  ...(['change', 'change at end', 'cancel', 'end', 'pay', 'pay', 'expire'] as const),
] as const;
type Kind = (typeof plainKinds | typeof otherKinds | typeof besideKinds)[number];

/** @param days between two acts, at most */
const anyActOf = (kinds: readonly Kind[], days: number) =>
  fc.record({
    after: fc.integer({ min: 0, max: 24 * days }),
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
    grants: fc.array(anyGrant, { minLength: 1, maxLength: 2 }),
  });
type AnyAct = ReturnType<typeof anyActOf> extends fc.Arbitrary<infer Value> ? Value : never;

/** @param beside null: they have nothing beside lines and time */
const anyTermsOf = (kinds: readonly Kind[], beside: fc.Arbitrary<AnyBeside> | null) =>
  fc.record({
    start: fc.integer({ min: -24 * 120, max: 24 * 20 }),
    ends: fc.option(fc.integer({ min: 1, max: 24 * 400 }), { freq: beside === null ? 5 : 1 }),
    trialDays: fc.constantFrom(0, 0, 0, 7, 30, ...(beside === null ? [] : [30, 60])),
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
    waits: fc.constantFrom(false, false, true),
    prices: fc.array(anyPrice, { minLength: 1, maxLength: 4 }),
    acts: fc.array(anyActOf(kinds, beside === null ? 40 : 20), { maxLength: 8 }),
    commitment: fc.option(anyCommitment),
    allowance: fc.record({
      limit: fc.nat(12),
      resets: fc.constantFrom('DAILY' as const, 'WEEKLY' as const, 'MONTHLY' as const, null),
    }),
    used: fc.array(fc.integer({ min: 0, max: 24 * 200 }), { maxLength: 40 }),
    beside: beside ?? fc.constant(nothingBeside),
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
  readonly grants: string[];
  readonly sell: (price: AnyPrice, name: string) => ModelLine;
  readonly unit: ModelLife['unit'];
  readonly count: number;
}

function lifeOf(terms: AnyTerms, isPlain: boolean): AnyLife {
  const { start, ends, prices, acts, allowance, used, commitment, beside, ...rest } = terms;
  const begin = first + start * hour;
  const end = ends === null ? null : begin + ends * hour;
  let now = first;
  // Usage is committed to by line, or all of it together.
  const sell = (price: AnyPrice, name: string): ModelLine => {
    const own = commitment === null && price.kind === 'usage' ? price.commitment : null;
    return { ...price, name, commitment: own && { ...own, isYearly: false } };
  };
  const lines = prices.map((price, index) => sell(price, `line ${index}`));
  const known: Known = {
    ...{ ...rest, sell, addons: [], grants: [] },
    names: lines.map(({ name }) => name),
  };
  const span = { start: begin, since: begin + rest.trialDays * 24 * hour, end };
  const besides = besidesOf(beside, span, known);
  // A year is a number of months, and of no other unit.
  const ofMonths = rest.unit === 'MONTHLY' && acts.every(({ unit }) => unit !== 'WEEKLY');
  return {
    life: {
      ...rest,
      ordered: first,
      start: begin,
      end,
      lines,
      ...besides,
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
  { arbitrary: livesOf(plainKinds, null, true), weight: 1 },
  { arbitrary: livesOf(otherKinds, null, false), weight: 2 },
  { arbitrary: livesOf(besideKinds, anyBeside, false), weight: 4 },
);

function livesOf(kinds: readonly Kind[], beside: fc.Arbitrary<AnyBeside> | null, isPlain: boolean) {
  return anyTermsOf(kinds, beside).map((terms) => lifeOf(terms, isPlain));
}

/** Everything that a life has beside lines and time, with names and dates. */
function besidesOf(
  { phases, grants, ownGrants, coupons, ...rest }: AnyBeside,
  {
    start,
    since,
    end,
  }: { readonly start: number; readonly since: number; readonly end: number | null },
  { names, grants: known, sell }: Known,
) {
  const following: ModelPhase[] = [];
  let on = since + 1_000;
  for (const [place, { hours, prices }] of phases.entries()) {
    on += hours * hour;
    if (end !== null && on >= end) break;
    const lines = prices.map((price, index) => sell(price, `part ${place + 1} ${index}`));
    following.push({ on, lines });
  }
  const firstNames = [...names];
  names.push(...following.flatMap(({ lines }) => lines.map(({ name }) => name)));
  const named = grants.map((grant, index) => ({ ...grant, name: `plan grant ${index}` }));
  const own = ownGrants.map(({ grant, from }) => ({
    ...{ ...grant, name: 'own grant', until: null },
    from: from === null ? null : start + from * hour,
  }));
  known.push(...[...named, ...own].map(({ name }) => name));
  const redeemed = coupons.map(({ of, place, lasts }, index): ModelCoupon => {
    const line = firstNames[place % firstNames.length] ?? '';
    const isOfPhase = of === 'phase' && following.length > 0;
    return {
      name: `coupon ${index}`,
      line: of === 'line' ? line : null,
      phase: isOfPhase ? place % (following.length + 1) : null,
      from: null,
      until: lasts === null ? null : start + lasts * hour,
    };
  });
  return { ...rest, phases: following, grants: named, ownGrants: own, coupons: redeemed };
}

function actOf(
  act: AnyAct,
  { at, place }: { readonly at: number; readonly place: number },
  { names, addons, grants, sell, unit, count }: Known,
): ModelAct {
  const { kind, prorates, quantity, says: bills, prices } = act;
  const line = names[act.line % names.length] ?? '';
  const on = at + act.ahead * hour;
  const until = (from: number) => (act.lasts === null ? null : from + act.lasts * hour);
  const base = { at, prorates };
  const grantsOf = (of: string): ModelGrant[] => {
    const named = act.grants.map((grant, index) => ({ ...grant, name: `${of} grant ${index}` }));
    grants.push(...named.map(({ name }) => name));
    return named;
  };
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
      return { ...base, kind, addon, isOnce: act.says, lines, grants: grantsOf(addon) };
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
        grants: grantsOf(`plan ${place}`),
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
    case 'drop phase':
      return { ...base, kind, place: act.line % 3 };
    case 'grant': {
      const [grant] = act.grants as [AnyGrant];
      const name = `grant ${place}`;
      grants.push(name);
      const from = act.says ? null : at + (act.ahead - 24 * 45) * hour;
      return { ...base, kind, grant: { ...grant, name, from, until: until(at) } };
    }
    case 'end grant':
      return {
        ...{ ...base, kind, grant: grants[act.line % grants.length] ?? 'none' },
        on: act.says ? null : on,
      };
    case 'share':
    case 'unshare':
      return { ...base, kind, customer: ['ben', 'cal', 'eve'][act.line % 3] ?? 'ben' };
    case 'group': {
      const parent = { name: `big ${act.line % 2}`, unit: act.unit ?? unit, count };
      return { ...base, kind, parent: act.says && act.line > 6 ? null : parent };
    }
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
