import {
  type Decimal,
  decimal,
  type Instant,
  millisecondsOf,
  nextWindow,
  zero,
} from '@counterfoil/kernel';
import type { GroupUsage } from './group-fold.ts';
import type { GroupQuestion } from './usage-in-groups.ts';

/** The part of a question that weights depend on. */
type Weighed = Pick<GroupQuestion, 'span' | 'windows' | 'aggregation'>;

/** A group, or a window of one, with what it has of the usage that is charged. */
export interface Cell {
  readonly group: readonly string[];
  /** Null where there are no windows. */
  readonly start: Instant | null;
  /** By its quantity; null where quantities of parts do not add up to that of the whole. */
  readonly quantity: Decimal | null;
  readonly events: Decimal;
}

/** The parts that the usage of a question is told in: windows where there are some, else groups. */
export const cellsOf = (question: Weighed, groups: readonly GroupUsage[]): readonly Cell[] =>
  groups.flatMap(({ group, windows, ...own }): Cell[] =>
    question.windows === null
      ? [{ group, start: null, ...amountOf(question, own, question.span.start) }]
      : windows.map((window) => ({
          group,
          start: window.start,
          ...amountOf(question, window, window.start),
        })),
  );

function amountOf(
  question: Weighed,
  { value, events }: Pick<GroupUsage, 'value' | 'events'>,
  start: Instant,
): Pick<Cell, 'quantity' | 'events'> {
  const quantity = value === null ? zero : decimal(value);
  const own = { events: decimal(String(events)) };
  switch (question.aggregation.type) {
    case 'COUNT':
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
      return { quantity, ...own };
    case 'WEIGHTED_SUM':
      // A mean level: it weighs as long as it lasts.
      return { quantity: quantity.times(decimal(String(lengthAt(question, start)))), ...own };
    case 'AVG':
    case 'MAX':
    case 'LATEST':
    case 'COUNT_UNIQUE':
      return { quantity: null, ...own };
    default:
      return question.aggregation.type satisfies never;
  }
}

/** Milliseconds of the part of a window that lies in the span; of the span where there are no windows. */
function lengthAt({ span, windows }: Weighed, start: Instant): number {
  const end = windows === null ? span.end : nextWindow(windows, start);
  const [from, to] = [start > span.start ? start : span.start, end < span.end ? end : span.end];
  return millisecondsOf(to) - millisecondsOf(from);
}

/**
 * The weights of cells, and last of what they leave out of `all`. Usage weighs by its quantity, else by its events; what
 * corrections take below zero weighs nothing.
 */
export function weightsOf(
  cells: readonly Cell[],
  all: readonly Cell[] = cells,
): readonly Decimal[] {
  const byQuantity = weighedBy(cells, all, ({ quantity }) => quantity ?? zero);
  const isWeighed = byQuantity.some((weight) => weight.cmp(zero) > 0);
  return isWeighed ? byQuantity : weighedBy(cells, all, ({ events }) => events);
}

function weighedBy(
  cells: readonly Cell[],
  all: readonly Cell[],
  of: (cell: Cell) => Decimal,
): readonly Decimal[] {
  const weights = cells.map((cell) => positive(of(cell)));
  const rest = sumOf(all.map(of)).minus(sumOf(cells.map(of)));
  return [...weights, positive(rest)];
}

const sumOf = (values: readonly Decimal[]): Decimal =>
  values.reduce((sum, value) => sum.plus(value), zero);

const positive = (value: Decimal): Decimal => (value.cmp(zero) < 0 ? zero : value);
