import type { AskingContext } from '@counterfoil/engine/define';
import { existing } from '@counterfoil/kernel';
import type { RatedLine } from '../../rating/index.ts';
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
import { billedByAmount, byAmountOf, isByAmount, lessBilled } from './billed-before.ts';
import { lateLines, lookedBack, type UsageAround } from './late-usage.ts';
import type { UnnamedLine } from './line-id.ts';
import { creditLine, linesOfSettlement } from './settlement-lines.ts';

/** A settlement of an invoice, with its subscription as it is now. */
export interface Part {
  readonly subscription: Subscription;
  readonly settled: Settled;
  /** Settlements of usage before it, which is looked at again where this one closes a period, and after it. */
  readonly around: UsageAround;
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
    (each) => belongsTo(on, each) || billsUsage(each) || creditsOnDrafts(each).length > 0,
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

const billsUsage = ({ lines }: Settled['settlement']): boolean =>
  lines.some(({ kind }) => kind === 'usage');

function partsIn(
  subscription: Subscription,
  all: readonly Settled[],
  cause: SettlementsCause,
): readonly Part[] {
  return all.flatMap((settled, index) => {
    const { settlement, state } = settled;
    if (!belongsTo(cause, settlement) || !isUnder(state, settlement, cause)) return [];
    const ofUsage = (some: readonly Settled[]) =>
      some.filter((each) => billsUsage(each.settlement) && !isByAmount(each.settlement));
    const by_amount = all.filter((each) => isByAmount(each.settlement));
    const earlier = isLast(settlement) ? ofUsage(all.slice(0, index)).slice(-lookedBack) : [];
    const after = ofUsage(all.slice(index + 1));
    const before = all.slice(0, index).filter((each) => isByAmount(each.settlement));
    const billed = billsUsage(settlement) ? byAmountOf(before, settlement) : [];
    const credits = all
      .slice(index + 1)
      .flatMap((each) => creditsOnDrafts(each.settlement))
      .filter((credit) => hasCharge(settlement, credit));
    return { subscription, settled, around: { earlier, after, by_amount }, billed, credits };
  });
}

/** Tells whether a settlement is the last of a period: usage that came late for earlier ones goes on its invoice. */
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

/** A line of an invoice, with what decides about its coupons, and with every step to its amount where that is for usage. */
export interface PartLine {
  readonly line: UnnamedLine;
  readonly explanation: RatedLine['explanation'] | null;
  readonly of: Omit<CouponedLine, 'id' | 'subscription_id'>;
}

/**
 * The lines of an invoice in their order, and the position up to which usage counts in them; null where none does. Usage is read
 * only where some is billed: what is charged in advance waits for nothing.
 */
export async function linesOfParts(
  context: AskingContext,
  parts: readonly Part[],
  read: () => Promise<UsageReading>,
): Promise<{ readonly lines: readonly PartLine[]; readonly position: string | null }> {
  let reading: UsageReading | null = null;
  const rate = async (settled: Settled): Promise<RatedSettlement> => {
    const isRated = settled.settlement.lines.some(isOfUsage);
    if (!isRated) return { stretches: [], commitment: null };
    reading ??= await read();
    return rateSettled(reading.context, settled, reading.moment);
  };
  const lines: PartLine[] = [];
  for (const part of parts) {
    const billed = await billedByAmount(context, part.billed);
    lines.push(...linesIn(part, await rate(part.settled), billed));
    for (const { line, settled } of await lateLines(
      context,
      part.subscription.id,
      part.around,
      rate,
    )) {
      lines.push({ line, of: placeOf(line, settled), explanation: null });
    }
  }
  return { lines, position: (reading as UsageReading | null)?.moment.position ?? null };
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
  const back = credits.map(({ credit, beyond }) => creditLine(placed, credit, beyond));
  const all = linesOfSettlement({ ...placed, settlement, rated });
  const own = lessBilled(all, billed, isLast(settlement));
  return [...own, ...back].map((line) => ({
    line,
    of: placeOf(line, settled),
    explanation: explanationOf(line, rated),
  }));
}

/** The rating of the stretch of usage that a line is for; null for any other line. */
const explanationOf = (
  { kind, subscription_line_item_id, period_start }: UnnamedLine,
  { stretches }: RatedSettlement,
): PartLine['explanation'] => {
  if (kind !== 'usage' && kind !== 'overage') return null;
  const own = stretches.find(
    ({ line, span }) => line.id === subscription_line_item_id && span.start === period_start,
  );
  return own?.net.explanation ?? null;
};

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
