import {
  type Currency,
  type DecimalText,
  decimal,
  type Instant,
  invariant,
  minuteOfDay,
  nextWindow,
  type Span,
  textOf,
  type WindowRhythm,
  windowStart,
  zero,
} from '@counterfoil/kernel';
import { type ExactCost, exactCostOfBuckets, type PriceTerms } from '../pricing/index.ts';
import { type CommitmentSplit, committedAmount, splitByCommitment } from './commitment.ts';
import { chargeable } from './quantity.ts';
import type { CommitmentTerms, LineCommitment, UsageBucket } from './request.ts';
import { slotAt, slotFault } from './slots.ts';
import { sumText } from './sum.ts';

export type WindowedCommitment = Extract<LineCommitment, { readonly kind: 'windowed' }>;

/** The price and commitment of the windows of one kind. */
interface WindowTerms {
  /** Place of the slot, from 0; null outside the slots. */
  readonly slot: number | null;
  readonly price: PriceTerms;
  readonly commitment: CommitmentTerms | null;
}

/** One window with usage. */
export interface CommittedWindow {
  readonly start: Instant;
  readonly slot: number | null;
  readonly cost: ExactCost;
  /** Null where neither a slot nor the line has one. */
  readonly commitment: CommitmentSplit | null;
  readonly amount: DecimalText;
}

/** The windows of one kind without usage, where that is charged. */
export interface EmptyWindows {
  readonly slot: number | null;
  readonly windows: number;
  /** The true-up of each. */
  readonly each: DecimalText;
  /** `windows × each`. */
  readonly amount: DecimalText;
}

/**
 * A commitment for each window: the amounts of the windows, and of the empty ones, add up to the whole, and so do
 * `utilized + overage + true_up + uncommitted`.
 */
export interface WindowedCharge {
  readonly windows: readonly CommittedWindow[];
  readonly empty: readonly EmptyWindows[];
  readonly utilized: DecimalText;
  readonly overage: DecimalText;
  readonly true_up: DecimalText;
  /** The windows that have no commitment. */
  readonly uncommitted: DecimalText;
  readonly amount: DecimalText;
}

/** The rated period and the rhythm of its windows. */
interface Rated {
  readonly period: Span;
  readonly rhythm: WindowRhythm;
  readonly terms: PriceTerms;
  readonly currency: Currency;
}

/**
 * Rates every window on its own against the commitment of its part of the day, or of the line (E 14.4): by the clock of
 * the zone. What a window leaves unused is charged, where it is trued up, once the window is over; a window without usage
 * too. One that began before the rated period is not trued up in it: that was done before.
 */
export function chargeWindows(
  buckets: readonly UsageBucket[],
  commitment: WindowedCommitment,
  rated: Rated,
): WindowedCharge {
  const fault = slotFault(commitment.slots, rated.rhythm.size);
  invariant(fault === null, fault ?? '');
  const byStart = new Map<Instant, DecimalText[]>();
  for (const { start, quantity } of buckets) {
    const known = byStart.get(start);
    if (known) known.push(chargeable(quantity));
    else byStart.set(start, [chargeable(quantity)]);
  }
  const windows = [...byStart]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([start, quantities]) => committedWindow(start, quantities, commitment, rated));
  const empty = emptyWindows(new Set(byStart.keys()), commitment, rated);
  const unused = empty.map(({ amount }) => amount);
  const splits = windows.flatMap(({ commitment: split }) => split ?? []);
  const rest = windows.filter((window) => window.commitment === null);
  return {
    windows,
    empty,
    utilized: sumText(splits.map(({ utilized }) => utilized)),
    overage: sumText(splits.map(({ overage }) => overage)),
    true_up: sumText([...splits.map(({ true_up }) => true_up), ...unused]),
    uncommitted: sumText(rest.map(({ amount }) => amount)),
    amount: sumText([...windows.map(({ amount }) => amount), ...unused]),
  };
}

function committedWindow(
  start: Instant,
  quantities: readonly DecimalText[],
  windowed: WindowedCommitment,
  rated: Rated,
): CommittedWindow {
  const { slot, price, commitment } = termsOf(start, windowed, rated);
  const cost = exactCostOfBuckets(price, quantities, rated.currency);
  if (commitment === null) return { start, slot, cost, commitment, amount: cost.unrounded_amount };
  const split = splitByCommitment(decimal(cost.unrounded_amount), {
    committed: committedAmount(commitment, price, rated.currency),
    prior: zero,
    overage_factor: commitment.overage_factor,
    trues_up:
      commitment.true_up && isOver(start, nextWindow(rated.rhythm, start), windowed.as_of, rated),
  });
  return { start, slot, cost, commitment: split, amount: split.amount };
}

/** Tells whether a window began in the rated period, and all of it that lies there is over. */
function isOver(start: Instant, next: Instant, asOf: Instant, { period }: Rated): boolean {
  const end = next < period.end ? next : period.end;
  return start >= period.start && end <= asOf;
}

/** Windows without usage that are charged, counted by slot. */
function emptyWindows(
  used: ReadonlySet<Instant>,
  windowed: WindowedCommitment,
  rated: Rated,
): readonly EmptyWindows[] {
  const all = [windowed.terms, ...windowed.slots.map(({ commitment }) => commitment)];
  if (!all.some((terms) => terms?.true_up)) return [];
  const counts = new Map<number | null, { readonly terms: WindowTerms; windows: number }>();
  const { period, rhythm } = rated;
  let next: Instant;
  for (let start = windowStart(rhythm, period.start); start < period.end; start = next) {
    next = nextWindow(rhythm, start);
    if (start >= windowed.as_of) break;
    if (used.has(start) || !isOver(start, next, windowed.as_of, rated)) continue;
    const terms = termsOf(start, windowed, rated);
    if (!terms.commitment?.true_up) continue;
    const known = counts.get(terms.slot);
    if (known) known.windows += 1;
    else counts.set(terms.slot, { terms, windows: 1 });
  }
  return [...counts.values()].map(({ terms, windows }) => emptyOf(terms, windows, rated.currency));
}

function emptyOf({ slot, price, commitment }: WindowTerms, windows: number, currency: Currency) {
  const each = commitment ? committedAmount(commitment, price, currency) : zero;
  const amount = textOf(each.times(decimal(String(windows))));
  return { slot, windows, each: textOf(each), amount };
}

function termsOf(
  start: Instant,
  windowed: WindowedCommitment,
  { rhythm, terms }: Rated,
): WindowTerms {
  const outside = { slot: null, price: terms, commitment: windowed.terms };
  if (windowed.slots.length === 0) return outside;
  const minute = minuteOfDay(start, rhythm.zone);
  const place = slotAt(windowed.slots, minute);
  const slot = windowed.slots[place];
  if (!slot) return outside;
  return { slot: place, price: slot.terms, commitment: slot.commitment };
}
