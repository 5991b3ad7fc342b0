import { fraction, rounded } from './fraction.ts';
import type { BilledDiscount, BilledRate, BilledWallet, ShownLine } from './life.ts';

/** A line before anything is taken off it or put on it; the amount in the smallest unit. */
export interface PlainLine extends Pick<ShownLine, 'kind' | 'name' | 'from' | 'to' | 'quantity'> {
  readonly units: bigint;
  /** The period that it belongs to. */
  readonly period: number;
  /** True for what is given back net of the discounts of its own invoice. */
  readonly isNet: boolean;
  /** True where tax is in the amount. */
  readonly isInclusive: boolean;
}

/** A line with all its figures. */
export interface FullLine extends PlainLine {
  readonly off: bigint;
  readonly shared: bigint;
  /** On top of the amount. */
  readonly tax: bigint;
  /** In the amount. */
  readonly within: bigint;
  paid: bigint;
}

/** A discount, and whether it counts on an invoice at all. */
export interface Applied {
  readonly discount: BilledDiscount;
  readonly fits: (line: PlainLine) => boolean;
}

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);
const above = (units: bigint): bigint => (units > 0n ? units : 0n);
const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

const part = (units: bigint, percent: string): bigint => {
  const { upper, lower } = fraction(percent);
  return rounded({ upper: units * upper, lower: lower * 100n });
};

/** Shares by whole units first, then one more for each of whom most is missing; of those alike for the first. */
export function sharedOut(amount: bigint, weights: readonly bigint[]): readonly bigint[] {
  const whole = total(weights);
  if (whole === 0n) return weights.map(() => 0n);
  const shares = weights.map((weight) => (amount * weight) / whole);
  const order = weights
    .map((weight, place) => ({ place, missing: (amount * weight) % whole }))
    .sort((one, other) =>
      one.missing === other.missing
        ? one.place - other.place
        : one.missing > other.missing
          ? -1
          : 1,
    );
  const left = Number(amount - total(shares));
  for (const { place } of order.slice(0, left)) shares[place] = (shares[place] ?? 0n) + 1n;
  return shares;
}

/** Spreads what is charged over what is charged, and what is given back over that. */
function spread(charged: bigint, back: bigint, nets: readonly bigint[]): readonly bigint[] {
  const ups = sharedOut(charged, nets.map(above));
  const downs = sharedOut(
    -back,
    nets.map((net) => above(-net)),
  );
  return nets.map((_, place) => (ups[place] ?? 0n) - (downs[place] ?? 0n));
}

/** The lines of an invoice with discounts and taxes, and the discounts that took something off. */
export function billed(
  lines: readonly PlainLine[],
  discounts: readonly Applied[],
  rates: readonly BilledRate[],
): { readonly lines: FullLine[]; readonly counted: ReadonlySet<BilledDiscount> } {
  const counted = new Set<BilledDiscount>();
  const nets = lines.map(({ units }) => units);
  for (const { discount, fits } of discounts) {
    if (discount.line === null) continue;
    let left = 'units' in discount.off ? BigInt(discount.off.units) : 0n;
    for (const [place, line] of lines.entries()) {
      const net = nets[place] ?? 0n;
      if (!fits(line)) continue;
      const { off } = discount;
      const taken = 'percent' in off ? part(net, off.percent) : least(left, above(net));
      left -= taken;
      nets[place] = net - taken;
      if (taken !== 0n) counted.add(discount);
    }
  }
  const offs = lines.map(({ units }, place) => units - (nets[place] ?? 0n));
  const before = [...nets];
  for (const { discount, fits } of discounts) {
    if (discount.line !== null) continue;
    const own = lines.map((line, place) => (fits(line) ? (nets[place] ?? 0n) : 0n));
    const charged = total(own.map(above));
    const back = total(own) - charged;
    const { off } = discount;
    const shares =
      'percent' in off
        ? spread(part(charged, off.percent), part(back, off.percent), own)
        : spread(least(BigInt(off.units), above(charged + back)), 0n, own);
    shares.forEach((share, place) => {
      nets[place] = (nets[place] ?? 0n) - share;
    });
    if (shares.some((share) => share !== 0n)) counted.add(discount);
  }
  const taxes = taxesOnTop(lines, nets, rates);
  const within = taxesWithin(lines, nets, rates);
  const full = lines.map((line, place) => ({
    ...line,
    off: offs[place] ?? 0n,
    shared: (before[place] ?? 0n) - (nets[place] ?? 0n),
    tax: taxes[place] ?? 0n,
    within: within[place] ?? 0n,
    paid: 0n,
  }));
  return { lines: full, counted };
}

/** Percentages of what has no tax in it, and amounts where anything is taxable: those are for whatever has no tax in it, if something has not. */
function taxesOnTop(
  lines: readonly PlainLine[],
  nets: readonly bigint[],
  rates: readonly BilledRate[],
): readonly bigint[] {
  const bare = nets.map((net, place) => (lines[place]?.isInclusive ? 0n : net));
  const charged = total(bare.map(above));
  const back = total(bare) - charged;
  let [up, down] = [0n, 0n];
  for (const rate of rates) {
    if ('units' in rate) up += total(nets) > 0n ? BigInt(rate.units) : 0n;
    else {
      up += part(charged, rate.percent);
      down += part(back, rate.percent);
    }
  }
  const ups = spread(up, 0n, charged > 0n ? bare : nets);
  const downs = spread(0n, down, bare);
  return nets.map((_, place) => (ups[place] ?? 0n) + (downs[place] ?? 0n));
}

/** All percentages at once out of what has tax in it: p of a hundred and p. */
function taxesWithin(
  lines: readonly PlainLine[],
  nets: readonly bigint[],
  rates: readonly BilledRate[],
): readonly bigint[] {
  const full = nets.map((net, place) => (lines[place]?.isInclusive ? net : 0n));
  // Percentages have three digits at most.
  const thousandths = total(
    rates.map((rate) => {
      if (!('percent' in rate)) return 0n;
      const { upper, lower } = fraction(rate.percent);
      return (upper * 1000n) / lower;
    }),
  );
  const out = (units: bigint): bigint =>
    rounded({ upper: units * thousandths, lower: 100_000n + thousandths });
  const charged = total(full.map(above));
  return spread(out(charged), out(total(full) - charged), full);
}

export const netOf = ({ units, off, shared }: FullLine): bigint => units - off - shared;

/** Lets a wallet with so many units pay what it may; tells how much that was. */
export function pay(lines: readonly FullLine[], units: bigint, pays: BilledWallet['pays']): bigint {
  const open = total(lines.map((line) => netOf(line) - line.within - line.paid));
  let left = least(units, above(open));
  const has = left;
  for (const line of lines) {
    if (pays === 'USAGE' && line.kind !== 'usage' && line.kind !== 'late_usage') continue;
    const taken = least(left, above(netOf(line) - line.within - line.paid));
    line.paid += taken;
    left -= taken;
  }
  return has - left;
}

/** The worth of an invoice, which can be less than nothing. */
export const worthOf = (lines: readonly FullLine[]): bigint =>
  total(lines.map((line) => netOf(line) - line.paid + line.tax));

export const sumOf = (lines: readonly FullLine[], of: (line: FullLine) => bigint): bigint =>
  total(lines.map(of));
