import type { Instant } from '@counterfoil/kernel';
import type { Settled } from '../../subscriptions/index.ts';
import { isBilled } from '../drafting/cause.ts';
import type { InvoiceLine } from '../events.ts';

/*
 * Which settlements of usage are looked at again for usage that came late. Each closing bills its own period. It looks again at the twelve
 * closings before, and at those whose distance is a power of two beyond: so what came late is billed by the next closing, and where
 * it is older than that, before it is twice as late. A settlement of any age is looked at until its subscription ends, and a
 * closing of many has few to look at. The end looks at everything there is.
 */

/** Closings before a closing at which it looks every time: a year of months. */
const lookedBack = 12;

/** Closings before a closing whose usage has to be there: it waits for months that are dropped. */
const awaited = 3;

/** Closings before the end of a subscription at which that looks: more than thirty years of months. */
const lookedBackAtEnd = 400;

/** A settlement of usage that a closing looks at again. */
export interface LookedAt {
  readonly settled: Settled;
  /** The other closings that look at it, before and after. */
  readonly lookers: readonly Settled[];
  /** True where the invoice waits for its usage if that is dropped, false where it is passed over until that is back. */
  readonly isAwaited: boolean;
}

/** Tells whether a settlement bills usage. */
export const billsUsage = ({ lines }: Settled['settlement']): boolean =>
  lines.some(({ kind }) => kind === 'usage');

/** Tells whether a settlement may be that of a closing: `lookedAtBy` has to be told all of these. */
export const isAtClosing = ({ reason }: Settled['settlement']): boolean =>
  reason === 'period_closed' ||
  reason === 'period_opened' ||
  reason === 'cancelled' ||
  reason === 'plan_changed';

/**
 * The settlements on whose invoices usage comes that was late for earlier ones: the last of each period, or what opens the next one where that
 * has nothing to bill of its own, and the end.
 */
function closingsIn(all: readonly Settled[]): readonly Settled[] {
  const billed = all.filter(({ settlement }) => isAtClosing(settlement) && isBilled(settlement));
  const closed = new Set(
    billed.flatMap(({ settlement: { reason, at } }) => (reason === 'period_closed' ? [at] : [])),
  );
  return billed.filter(
    ({ settlement: { at, reason }, closed: period }) =>
      reason !== 'period_opened' || (period?.end === at && !closed.has(at)),
  );
}

/**
 * The settlements at which one looks again; none for one that closes nothing. It follows from their order alone, so that whoever asks
 * for one of them knows which others have billed what came late for it.
 *
 * @param all settlements of a subscription in the order in which they were made, those by amount apart, with none left out that bills
 * usage or is at a closing
 * @param ended when the subscription ended; null while it lasts
 */
export function lookedAtBy(
  settled: Settled,
  all: readonly Settled[],
  ended: Instant | null,
): readonly LookedAt[] {
  const closings = closingsIn(all);
  const looks = ({ settlement }: Settled, closing: number, place: number): boolean =>
    looksBack(closing - place, settlement.at === ended);
  const own = closings.indexOf(settled);
  if (own < 0) return [];
  let passed = 0;
  return all.flatMap((each) => {
    // The number of the closing that comes next, or that it is.
    const place = passed;
    if (each === closings[passed]) passed += 1;
    if (each === settled || !billsUsage(each.settlement) || !looks(settled, own, place)) return [];
    const lookers = closings.filter(
      (other, index) => other !== settled && other !== each && looks(other, index, place),
    );
    return [{ settled: each, lookers, isAwaited: own - place <= awaited }];
  });
}

/** Tells whether a closing looks at what belongs to the one so many before it. */
function looksBack(distance: number, isEnd: boolean): boolean {
  if (distance < 0) return false;
  if (distance <= lookedBack || (isEnd && distance <= lookedBackAtEnd)) return true;
  let power = 16;
  while (power < distance) power *= 2;
  return power === distance;
}

/**
 * The settlements that an invoice has looked at again, for whoever computes it as it was: those whose usage was there for certain, and those of
 * which it has a line. Others it may have passed over, because their months were dropped then.
 */
export const lookedAtThen = (
  looked: readonly LookedAt[],
  recorded: readonly InvoiceLine[],
): readonly LookedAt[] =>
  looked
    .filter(
      ({ settled, isAwaited }) => isAwaited || recorded.some((line) => isLateFor(settled, line)),
    )
    .map((each) => ({ ...each, isAwaited: true }));

const isLateFor = ({ settlement }: Settled, line: InvoiceLine): boolean =>
  line.kind === 'late_usage' &&
  settlement.lines.some(
    (each) =>
      (each.kind === 'usage' || each.kind === 'commitment') &&
      each.line_item_id === line.subscription_line_item_id &&
      each.span.start === line.period_start,
  );
