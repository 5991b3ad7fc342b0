import {
  type DecimalText,
  decimal,
  earlierOf,
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
  notFound,
  type SubscriptionLineId,
} from '@counterfoil/kernel';
import { assertOneKind } from '../commitments/requests.ts';
import type { Rhythm } from '../creation/offered-prices.ts';
import { lineDates, type OrderedLine, quantityOf } from '../creation/ordered-line.ts';
import { acting, assertRunning, type SubscriptionDecision } from '../decisions.ts';
import type { SubscriptionEvent } from '../events.ts';
import { maximumLines } from '../schema.ts';
import {
  addLine,
  type ChargedLine,
  changeQuantity,
  type Proration,
  type Replacement,
  removeLine,
  replaceLine,
  type SettlementLine,
  type SettlementReason,
} from '../settlement/index.ts';
import type { Subscription, SubscriptionState } from '../subscription.ts';
import { settled, settlementContext } from '../time/due.ts';
import type { LinesChanged } from './changed.ts';
import { chargedLine, type Line, type LineData, ofNoAddon, type SoldPrice } from './line.ts';
import { withinPhase } from './within-phase.ts';

/** A change of lines, with the lines of its settlement. */
export interface Changed {
  readonly begun: readonly LineData[];
  readonly ended: LinesChanged['ended'];
  readonly lines: readonly SettlementLine[];
}

/** Does something to the lines of a subscription that runs. */
const changingLines = (
  state: SubscriptionState,
  id: string,
  now: Instant,
  act: (current: Subscription) => readonly SubscriptionEvent[],
): readonly SubscriptionEvent[] =>
  acting(state, id, now, (current) => {
    assertRunning(current);
    return act(current);
  });

/** Adds a line (E 11.2). */
export const addLineItem =
  (
    id: string,
    line_id: SubscriptionLineId,
    ordered: OrderedLine,
    {
      proration,
      at: asked,
      phase_id = null,
    }: {
      readonly proration: Proration;
      readonly at: Instant | null;
      readonly phase_id?: string | null;
    },
  ): SubscriptionDecision =>
  (state, now) =>
    changingLines(state, id, now, (current) => {
      const dated = withinPhase(current, phase_id, ordered, asked ?? now);
      const { from, end_date, ...rest } = { ...ordered, ...dated };
      const at = from ?? asked ?? now;
      assertWithin(current, at, '/start_date');
      if (current.lines.length >= maximumLines) {
        throw invalidOperation(`A subscription has at most ${maximumLines} lines.`, {
          reason: 'limit_reached',
          limit: maximumLines,
        });
      }
      if (end_date !== null && end_date <= at) {
        throw invalidField('/end_date', 'must be after the line starts');
      }
      assertOneKind(current.commitment, [rest]);
      const dates = lineDates(current, current.timezone, { price: rest.price, from: at, end_date });
      const line = { ...rest, id: line_id, ...ofNoAddon, ...dates };
      const charged = asCharged(current, { ...line, charged: [] });
      const lines = settling(current, (context) => addLine(charged, context, proration));
      return changing(current, 'line_added', now, { begun: [line], ended: [], lines });
    });

/** The end of a line, as it is asked for. */
export interface LineEnd {
  readonly line_id: string;
  /** Null: now. */
  readonly effective_from: Instant | null;
  /** The instant of a quote, which is now for it; null: there is none. */
  readonly quoted: Instant | null;
  readonly proration: Proration;
}

/** Ends a line (E 11.3, specification §4.12). An end that is scheduled can be moved to an earlier instant. */
export const endLineItem =
  (id: string, { line_id, effective_from, quoted, proration }: LineEnd): SubscriptionDecision =>
  (state, now) =>
    changingLines(state, id, now, (current) => {
      const line = lineOf(current, line_id);
      const end_date = effective_from ?? laterOf(quoted ?? now, line.start_date);
      if (end_date < line.start_date) {
        throw invalidField(
          '/effective_from',
          `must not be before the line starts, ${line.start_date}`,
        );
      }
      if (line.end_date !== null && (line.end_date <= now || end_date >= line.end_date)) {
        throw invalidOperation(`The line ${line_id} ends at ${line.end_date}.`, {
          reason: 'ended',
        });
      }
      const { lines } = settlingOne(current, line, (context, charged) =>
        removeLine(charged, context, { at: end_date, proration }),
      );
      const ended = [{ id: line.id, end_date, followed_by: null }];
      return changing(current, 'line_removed', earlierOf(end_date, now), {
        begun: [],
        ended,
        lines,
      });
    });

/** Another quantity of a line, as it is asked for. */
export interface QuantityChange {
  readonly line_id: string;
  readonly quantity: DecimalText;
  /** The id of the line that takes its place. */
  readonly next_id: SubscriptionLineId;
  /** Null: now. */
  readonly effective_date: Instant | null;
  readonly pointer: string;
}

/**
 * Gives lines other quantities (E 11.4), all together. The same quantity changes nothing.
 *
 * @param quoted the instant of a quote, which is now for it; null: there is none
 */
export const changeQuantities =
  (
    id: string,
    changes: readonly QuantityChange[],
    { proration, quoted }: { readonly proration: Proration; readonly quoted: Instant | null },
  ): SubscriptionDecision =>
  (state, now) =>
    changingLines(state, id, now, (current) => {
      const all = changes.flatMap((change) => {
        const { line_id, pointer, next_id } = change;
        const line = replaceable(current, line_id, pointer);
        if (line.price.type === 'USAGE' || line.price.billing_period === 'ONETIME') {
          throw invalidField(
            `${pointer}/id`,
            'is no line that is charged by its quantity again and again',
          );
        }
        const quantity = quantityOf(line.price, change.quantity, `${pointer}/quantity`);
        if (decimal(quantity).eq(decimal(line.quantity))) return [];
        const at = startOfNext(current, line, {
          asked: change.effective_date,
          now: quoted ?? now,
          pointer: `${pointer}/effective_date`,
        });
        return replaced(
          current,
          line,
          { ...line, id: next_id, quantity },
          (context, charged) =>
            changeQuantity(charged, { line_item_id: next_id, quantity }, context, {
              at,
              proration,
            }),
          at,
        );
      });
      return changing(current, 'quantity_changed', earliest(all, now), joined(all));
    });

/** Another price of a line, or other notes. */
export interface LineUpdate {
  readonly line_id: string;
  readonly next_id: SubscriptionLineId;
  /** Of the price that the line has now; null: it keeps that. */
  readonly price: ((now: SoldPrice) => SoldPrice) | null;
  /** Of the line as it is now; null: it keeps its commitment. */
  readonly commitment: ((now: Line, rhythm: Rhythm) => LineData['commitment']) | null;
  /** Null: now. */
  readonly effective_from: Instant | null;
  /** The instant of a quote, which is now for it; null: there is none. */
  readonly quoted: Instant | null;
  readonly metadata: LineData['metadata'] | undefined;
  /** Undefined: as the subscription does. */
  readonly proration: Proration | undefined;
}

/** Gives a line another price or commitment from an instant on, by a line that takes its place (E 11.4, D69), or other notes. */
export const updateLineItem =
  (id: string, update: LineUpdate): SubscriptionDecision =>
  (state, now) =>
    changingLines(state, id, now, (current) => {
      const { line_id, next_id, price, commitment, effective_from, quoted, metadata } = update;
      if (price === null && commitment === null) {
        if (metadata === undefined) return [];
        const { id: noted } = lineOf(current, line_id);
        return [changed(current, { begun: [], ended: [], noted: [{ id: noted, metadata }] })];
      }
      const line = replaceable(current, line_id, '');
      const at = startOfNext(current, line, {
        asked: effective_from,
        now: quoted ?? now,
        pointer: '/effective_from',
      });
      const next = {
        ...line,
        id: next_id,
        price: price?.(line.price) ?? line.price,
        commitment: commitment ? commitment(line, current.cycle) : line.commitment,
        metadata: metadata ?? line.metadata,
      };
      assertOneKind(current.commitment, [next]);
      const proration = update.proration ?? current.proration_behavior;
      const after = replaced(
        current,
        line,
        next,
        (context, charged) =>
          replaceLine(charged, asCharged(current, next), context, { at, proration }),
        at,
      );
      return changing(current, 'line_changed', earlierOf(at, now), after);
    });

/** The line, unless the subscription has none of that id that can still be charged. */
function lineOf({ lines }: Subscription, id: string): Line {
  const line = lines.find((each) => each.id === id);
  if (line) return line;
  throw invalidOperation(`The line ${id} has ended: nothing of it can be changed.`, {
    reason: 'ended',
  });
}

/** A line that another one can take the place of: none whose end is known. */
function replaceable(subscription: Subscription, id: string, pointer: string): Line {
  const line = subscription.lines.find((each) => each.id === id);
  if (!line) {
    throw pointer === ''
      ? lineOf(subscription, id)
      : notFound('line', id, `${pointer.slice(1)}/id`);
  }
  if (line.end_date === null) return line;
  throw invalidOperation(`The line ${id} ends at ${line.end_date}: change the one that follows.`, {
    reason: 'ended',
  });
}

/** The instant at which a line takes the place of another: in the period that runs or later, not before that one begins. */
function startOfNext(
  subscription: Subscription,
  line: Line,
  { asked, now, pointer }: { asked: Instant | null; now: Instant; pointer: string },
): Instant {
  if (asked !== null && asked < line.start_date) {
    throw invalidField(pointer, `must not be before the line starts, ${line.start_date}`);
  }
  const at = asked ?? laterOf(now, line.start_date);
  assertWithin(subscription, at, pointer);
  return at;
}

/** Lines change within the period that runs, or later: what is over was billed (D69). */
export function assertWithin(
  { opened, end_date }: Subscription,
  at: Instant,
  pointer: string,
): void {
  if (opened !== null && at < opened.start) {
    throw invalidField(pointer, `must not be before the current period, ${opened.start}`);
  }
  if (end_date !== null && at >= end_date) {
    throw invalidField(pointer, `must be before the end of the subscription, ${end_date}`);
  }
}

type Context = ReturnType<typeof settlementContext>;

/** Settles something within the period that runs; before the first there is nothing to settle. */
export const settling = (
  subscription: Subscription,
  settle: (context: Context) => readonly SettlementLine[],
): readonly SettlementLine[] => {
  const { opened, start_date } = subscription;
  if (opened !== null) return settle(settlementContext(subscription, opened));
  const none = { index: null, start: start_date, end: start_date };
  return settle(settlementContext(subscription, none));
};

export function settlingOne(
  subscription: Subscription,
  line: Line,
  settle: (context: Context, charged: ChargedLine) => { readonly lines: readonly SettlementLine[] },
) {
  return {
    lines: settling(
      subscription,
      (context) => settle(context, asCharged(subscription, line)).lines,
    ),
  };
}

export const asCharged = ({ end_date }: Subscription, line: Line): ChargedLine =>
  chargedLine(line, end_date);

/** One line in the place of another, from an instant on. */
export function replaced(
  subscription: Subscription,
  line: Line,
  { charged: _, ...next }: Line,
  settle: (context: Context, charged: ChargedLine) => Replacement,
  at: Instant,
): Changed {
  return {
    begun: [{ ...next, replaces: line.id, start_date: at, own: line.own }],
    ended: [{ id: line.id, end_date: at, followed_by: next.id }],
    lines: settlingOne(subscription, line, settle).lines,
  };
}

export const joined = (all: readonly Changed[]): Changed => ({
  begun: all.flatMap(({ begun }) => begun),
  ended: all.flatMap(({ ended }) => ended),
  lines: all.flatMap(({ lines }) => lines),
});

/** The events of a change: the lines, and what is settled with them. */
export function changing(
  subscription: Subscription,
  reason: SettlementReason,
  at: Instant,
  { begun, ended, lines }: Changed,
): readonly SubscriptionEvent[] {
  if (begun.length === 0 && ended.length === 0) return [];
  const key = [...begun.map(({ id }) => id), ...ended.map((each) => `${each.id} ${each.end_date}`)];
  const cause = { reason, period_index: subscription.opened?.index ?? null } as const;
  return [
    changed(subscription, { begun: [...begun], ended, noted: [] }),
    ...settled(subscription, cause, at, lines, key.join('\n')),
  ];
}

const changed = (
  { customer_id }: Subscription,
  change: Omit<LinesChanged, 'customer_id'>,
): SubscriptionEvent => ({ type: 'LinesChanged', data: { customer_id, ...change } });

const earliest = (all: readonly Changed[], now: Instant): Instant =>
  all
    .flatMap(({ ended }) => ended.map(({ end_date }) => end_date))
    .reduce((left, right) => earlierOf(left, right), now);
