import { type Decimal, type DecimalText, type Instant, laterOf, zero } from '@counterfoil/kernel';
import { type Accumulator, accumulator, type Reading } from '../aggregation/aggregate.ts';
import type { BreakdownQuestion } from './breakdown.ts';

/** The usage of a stretch, and the events that were counted. */
interface Figure {
  readonly value: DecimalText | null;
  readonly events: number;
}

/** The usage of a group. */
export interface GroupUsage extends Figure {
  /** The value of each grouping, in their order. */
  readonly group: readonly string[];
  /** The windows in which something was counted; all, for a level. */
  readonly windows: readonly (Figure & { readonly start: Instant })[];
}

interface Running {
  readonly values: Accumulator;
  events: number;
}

interface Group {
  readonly group: readonly string[];
  /** The sum of all values before the span. */
  before: Decimal;
  whole: Running | null;
  /** By index, in the order of time. */
  readonly windows: Map<number, Running>;
  level: Decimal;
}

/** Readings of events, or of several that were summed up, folded by group and window. */
export class GroupFold {
  readonly #question: Pick<BreakdownQuestion, 'aggregation' | 'span' | 'windowStarts'>;
  readonly #groups = new Map<string, Group>();
  #points = 0;

  constructor(question: Pick<BreakdownQuestion, 'aggregation' | 'span' | 'windowStarts'>) {
    this.#question = question;
  }

  get size(): number {
    return this.#groups.size;
  }

  /** The windows of all groups. */
  get points(): number {
    return this.#points;
  }

  /** Takes an event of before the span, which only a level asks for. All of a group come before its others. */
  addBefore(group: readonly string[], reading: Reading): void {
    const own = this.#of(group);
    own.before = own.before.plus(changeOf(reading));
    own.level = own.before;
  }

  /** Takes an event of the span, or several, of the whole of it. */
  addToWhole(group: readonly string[], reading: Reading, events: number): void {
    const own = this.#of(group);
    const { aggregation, span } = this.#question;
    own.whole ??= { values: accumulator(aggregation, span, own.before), events: 0 };
    own.whole.values.add(reading);
    own.whole.events += events;
  }

  /** Takes the same, of a window. Windows come in order. */
  addToWindow(group: readonly string[], index: number, reading: Reading, events: number): void {
    const own = this.#of(group);
    const window = own.windows.get(index) ?? this.#open(own, index);
    window.values.add(reading);
    window.events += events;
    own.level = own.level.plus(changeOf(reading));
  }

  /** The groups in which something was counted, in the order of their values. */
  values(): readonly GroupUsage[] {
    return [...this.#groups.values()]
      .flatMap((own) => this.#usageOf(own))
      .sort((left, right) => inOrder(left.group, right.group));
  }

  #of(group: readonly string[]): Group {
    const key = JSON.stringify(group);
    const known = this.#groups.get(key);
    if (known) return known;
    const own = { group, before: zero, whole: null, windows: new Map(), level: zero };
    this.#groups.set(key, own);
    return own;
  }

  /** A level goes on through windows in which nothing happens. */
  #open(own: Group, index: number): Running {
    const { aggregation } = this.#question;
    for (let next = own.windows.size; aggregation.type === 'WEIGHTED_SUM' && next < index; ) {
      own.windows.set(next, this.#window(own, next));
      next += 1;
    }
    const window = this.#window(own, index);
    own.windows.set(index, window);
    return window;
  }

  #window({ level }: Group, index: number): Running {
    const { aggregation, span, windowStarts: starts } = this.#question;
    const part = {
      start: laterOf(starts[index] ?? span.start, span.start),
      end: starts[index + 1] ?? span.end,
    };
    this.#points += 1;
    return { values: accumulator(aggregation, part, level), events: 0 };
  }

  #usageOf(own: Group): readonly GroupUsage[] {
    const { aggregation, span, windowStarts: starts } = this.#question;
    const isLevel = aggregation.type === 'WEIGHTED_SUM';
    if (own.whole === null && !isLevel) return [];
    const last = starts.length - 1;
    if (isLevel && last >= 0 && !own.windows.has(last)) this.#open(own, last);
    const { values, events } = own.whole ?? {
      values: accumulator(aggregation, span, own.before),
      events: 0,
    };
    const windows = [...own.windows].map(([index, window]) => ({
      start: starts[index] ?? span.start,
      value: window.values.value(),
      events: window.events,
    }));
    return [{ group: own.group, value: values.value(), events, windows }];
  }
}

/** The change of a level that a reading is. */
function changeOf({ measured }: Reading): Decimal {
  if (measured.kind === 'sums') return measured.total;
  return measured.kind === 'number' ? measured.value : zero;
}

function inOrder(left: readonly string[], right: readonly string[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
