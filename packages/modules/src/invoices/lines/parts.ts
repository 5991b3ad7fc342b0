import type { AskingContext } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import {
  type DividedCredit,
  type LineData,
  type RatedSettlement,
  rateSettled,
  type Settled,
  type SettledSubscription,
  type Subscription,
  settledOf,
  subscriptionBefore,
} from '../../subscriptions/index.ts';
import type { CouponedLine } from '../coupons.ts';
import { creditsOnDrafts, hasCharge } from '../credits/of-charge.ts';
import { belongsTo, invoicedUnder, type SettlementsCause } from '../drafting/cause.ts';
import type { InvoiceLine } from '../events.ts';
import type { UsageReading } from '../usage-readings.ts';
import { billedFor } from './billed-lines.ts';
import { billedByAmount, byAmountOf, isByAmount, lessBilled } from './by-amount.ts';
import { type LookedBack, lateLines, lateLinesMaximum } from './late-usage.ts';
import type { UnnamedLine } from './line-id.ts';
import { billsUsage, isAtClosing, lookedAtBy, lookedAtThen } from './looked-back.ts';
import { creditLine, linesOfSettlement } from './settlement-lines.ts';

/** A settlement of an invoice, with its subscription as it is now. */
export interface Part {
  readonly subscription: Subscription;
  readonly settled: Settled;
  /** Settlements of usage that are looked at again, where it closes a period. */
  readonly back: LookedBack;
  /** Settlements of usage of its period by amount before it: it bills the rest. */
  readonly billed: readonly Settled[];
  /** Credits by which later settlements have given back some of its charges while no invoice of them was final. */
  readonly credits: readonly DividedCredit[];
}

/** The settlement of an invoice, for those who do not know yet under which subscription that is. */
export type SettledOn = Pick<SettlementsCause, 'settlement_id' | 'at' | 'of_period'>;

/** The settlements of a subscription that an invoice is about, and those around them that have a part in it. */
export const settledFor = (
  context: Pick<AskingContext, 'history'>,
  id: string,
  on: SettledOn,
): Promise<SettledSubscription> =>
  settledOf(
    context,
    id,
    (each) =>
      belongsTo(on, each) ||
      billsUsage(each) ||
      isAtClosing(each) ||
      creditsOnDrafts(each).length > 0,
  );

/**
 * The settlements of an invoice, of its subscription and of those that are invoiced with it, in the order in which they were made.
 *
 * @param known the settlements of one of the subscriptions, where they have just been read
 */
export async function partsOf(
  context: AskingContext,
  cause: SettlementsCause,
  known: SettledSubscription | null = null,
): Promise<readonly Part[]> {
  const settledIn = async (id: string): Promise<SettledSubscription> =>
    known?.subscription?.id === id ? known : settledFor(context, id, cause);
  const root = await settledIn(cause.subscription_id);
  const subscription = existing(root.subscription, 'subscription');
  const lines = await linesBefore(context, subscription, root.lines);
  const own = root.settled.map((settled) => ({ ...settled, lines }));
  const parts = partsIn(subscription, own, cause);
  if (!cause.of_period) return parts;
  const ofMembers: Part[] = [];
  for (const id of root.members) {
    const member = await settledIn(id);
    if (member.subscription === null) continue;
    // As it was then: whoever leaves the group later is billed here for what came before.
    ofMembers.push(...partsIn(member.subscription, member.settled, cause));
  }
  return [...parts, ...ofMembers];
}

function partsIn(
  subscription: Subscription,
  all: readonly Settled[],
  cause: SettlementsCause,
): readonly Part[] {
  return all.flatMap((settled, index) => {
    const { settlement, state } = settled;
    if (!belongsTo(cause, settlement) || !isUnder(state, settlement, cause)) return [];
    const by_amount = all.filter((each) => isByAmount(each.settlement));
    const others = all.filter((each) => !isByAmount(each.settlement));
    const looked = lookedAtBy(settled, others, subscription.cancelled_at);
    const before = all.slice(0, index).filter((each) => isByAmount(each.settlement));
    const billed = billsUsage(settlement) ? byAmountOf(before, settlement) : [];
    const credits = all
      .slice(index + 1)
      .flatMap((each) => creditsOnDrafts(each.settlement))
      .filter((credit) => hasCharge(settlement, credit));
    return { subscription, settled, back: { looked, by_amount }, billed, credits };
  });
}

/** Tells whether a settlement bills all usage of a period that is left. */
const isLast = (settlement: Settled['settlement']): boolean =>
  billsUsage(settlement) &&
  (settlement.reason === 'period_closed' ||
    settlement.reason === 'cancelled' ||
    settlement.reason === 'plan_changed');

const isUnder = (
  state: Subscription,
  settlement: Settled['settlement'],
  { subscription_id }: SettlementsCause,
): boolean => invoicedUnder(state, settlement) === subscription_id;

/** All lines, those of the subscription before included, which a change of plan credits. */
async function linesBefore(
  context: AskingContext,
  subscription: Subscription,
  lines: Settled['lines'],
): Promise<Settled['lines']> {
  const before = subscriptionBefore(subscription);
  if (before === null) return lines;
  const earlier = await settledOf(context, before, () => false);
  return new Map([...earlier.lines, ...lines]);
}

/** The origin of a line: a settlement with its usage rated, and for usage that came late the lines that have billed it before. */
export interface LineOrigin {
  readonly settled: Settled;
  readonly rated: RatedSettlement;
  /** Null for a line that bills its settlement for the first time. */
  readonly billed: readonly InvoiceLine[] | null;
  /** The credit that a later settlement gave of its charge; null for any other line. */
  readonly credit: DividedCredit | null;
}

/** A line of an invoice, with what decides about its coupons, and with all that led to it. */
export interface PartLine {
  readonly line: UnnamedLine;
  readonly origin: LineOrigin;
  readonly of: Omit<CouponedLine, 'id' | 'subscription_id'>;
}

/** The manner in which lines are wanted. */
interface LinesWanted {
  /** The lines that the invoice has, where it is computed again as it was. */
  readonly recorded?: readonly InvoiceLine[] | undefined;
  /** Settlements whose late usage is asked for together. */
  readonly atOnce?: number;
}

/**
 * The lines of an invoice in their order, and the position up to which usage counts in them; null where none does. Usage is read
 * only where some is billed: what is charged in advance waits for nothing.
 */
export async function linesOfParts(
  context: AskingContext,
  parts: readonly Part[],
  read: () => Promise<UsageReading>,
  { recorded, atOnce }: LinesWanted = {},
): Promise<{ readonly lines: readonly PartLine[]; readonly position: string | null }> {
  let reading: Promise<UsageReading> | null = null;
  const rate = async (settled: Settled): Promise<RatedSettlement> => {
    const isRated = settled.settlement.lines.some(isOfUsage);
    if (!isRated) return { stretches: [], commitment: null };
    reading ??= read();
    const { context: asking, moment } = await reading;
    return rateSettled(asking, settled, moment);
  };
  const lines: PartLine[] = [];
  let room = lateLinesMaximum;
  for (const part of parts) {
    const billed = await billedByAmount(context, part.billed);
    lines.push(...linesIn(part, await rate(part.settled), billed));
    const looked = recorded ? lookedAtThen(part.back.looked, recorded) : part.back.looked;
    const back = { ...part.back, looked };
    const late = await lateLines(context, part.subscription.id, back, rate, room, atOnce);
    room -= late.length;
    for (const { line, ...origin } of late) {
      lines.push({ line, of: placeOf(line, origin.settled), origin: { ...origin, credit: null } });
    }
  }
  const shown = await (reading as Promise<UsageReading> | null);
  return { lines, position: shown?.moment.position ?? null };
}

const isOfUsage = ({ kind }: Settled['settlement']['lines'][number]): boolean =>
  kind === 'usage' || kind === 'commitment';

function linesIn(
  { settled, subscription, credits }: Part,
  rated: RatedSettlement,
  billed: readonly InvoiceLine[],
): readonly PartLine[] {
  const { settlement, lines } = settled;
  const placed = { lines, subscription_id: subscription.id };
  const all = linesOfSettlement({ ...placed, settlement, rated });
  const own = lessBilled(all, billed, isLast(settlement)).map((line) => ({ line, credit: null }));
  const back = credits.map((credit) => ({
    line: creditLine(placed, credit.credit, credit.beyond),
    credit,
  }));
  return [...own, ...back].map(({ line, credit }) => ({
    line,
    of: placeOf(line, settled),
    origin: { settled, rated, billed: billedOf(line, billed), credit },
  }));
}

/** The lines of invoices by amount that have billed a part of a line before; null for a line of which nothing was. */
const billedOf = (
  line: UnnamedLine,
  billed: readonly InvoiceLine[],
): readonly InvoiceLine[] | null =>
  line.metadata.billed_before === undefined ? null : billedFor(line, billed);

/** Everything about a line and its settlement that decides about coupons. */
function placeOf(line: UnnamedLine, { settlement, lines }: Settled): PartLine['of'] {
  const own = lines.get(line.subscription_line_item_id ?? '');
  return {
    line_item_ids: placesOf(lines, own),
    phase_id: own?.subscription_phase_id ?? null,
    settled_at: settlement.at,
    period_index: settlement.period_index,
    is_net: line.kind === 'credit' && isOfFinal(settlement, line),
  };
}

/** A line of a subscription, the one in whose place it stands, and so on. */
function placesOf(lines: Settled['lines'], line: LineData | undefined): readonly string[] {
  const ids: string[] = [];
  for (let each = line; each; each = lines.get(each.replaces ?? '')) ids.push(each.id);
  return ids;
}

/** Tells whether a credit is of a charge whose invoice was final: it is net of the discounts of that. */
const isOfFinal = (
  { lines }: Settled['settlement'],
  { subscription_line_item_id }: UnnamedLine,
): boolean =>
  lines.some(
    (each) =>
      each.kind === 'credit' &&
      each.line_item_id === subscription_line_item_id &&
      each.invoice_id !== undefined,
  );
