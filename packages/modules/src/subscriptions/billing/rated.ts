import type { AskingContext } from '@counterfoil/engine/define';
import { type DecimalText, decimal, type Span, textOf, zero } from '@counterfoil/kernel';
import type { RatedCommitment, RulesVersion } from '../../rating/index.ts';
import type { usageInStretches } from '../../usage/index.ts';
import { usersOf } from '../families/family.ts';
import type { LineData } from '../lines/line.ts';
import type { SettlementCommitment } from '../settlement/index.ts';
import { allowancesOf } from '../usage/charges.ts';
import { ratedCommitment, usedCommitment } from '../usage/held.ts';
import { type Charging, type RatedUsage, ratedUsage } from '../usage/rated-line.ts';
import { ratedAt, type Settled } from './settled.ts';

/** Usage that a settlement bills, rated. */
export interface RatedStretch extends RatedUsage {
  readonly line: LineData;
  readonly span: Span;
  /** The usage that an entitlement has made free. */
  readonly free: DecimalText;
}

/** Everything of a settlement whose amount is found when its invoice is made. */
export interface RatedSettlement {
  readonly stretches: readonly RatedStretch[];
  /** The commitment of all usage together, with the share of each line; null: none. */
  readonly commitment: {
    readonly held: SettlementCommitment;
    readonly rated: RatedCommitment;
  } | null;
}

/** The usage that is rated. */
export interface RatingMoment {
  /** The position of the log that the reads of facts show at least. */
  readonly position: string;
  /** Tells usage in another way than by its tables. */
  readonly usageIn?: typeof usageInStretches;
  /** The version of the rules that rate; absent: those of today. */
  readonly rules?: RulesVersion;
}

/**
 * Rates the usage that a settlement bills, under the terms, entitlements and commitments that held right before it: what is
 * free, what was committed to, and what comes above.
 */
export async function rateSettled(
  context: AskingContext,
  settled: Settled,
  moment: RatingMoment,
): Promise<RatedSettlement> {
  const { settlement, state, billed, lines, closed } = settled;
  const stretches = settlement.lines.flatMap((each) => {
    const line = each.kind === 'usage' ? lines.get(each.line_item_id) : undefined;
    return each.kind === 'usage' && line ? [{ line, span: each.span }] : [];
  });
  const held = settlement.lines.flatMap((each) => (each.kind === 'commitment' ? [each] : []));
  if (stretches.length === 0 && held.length === 0) return { stretches: [], commitment: null };
  const charging: Charging = {
    ...moment,
    state,
    users: usersOf(state),
    allowances: await allowancesOf(context, state, ratedAt(settled)),
    billed,
    isClosing: true,
    ...(closed && { billing: { start: closed.start, end: closed.end } }),
  };
  const rated: RatedStretch[] = [];
  // One after the other: each reads usage, and an invoice is in no hurry.
  for (const { line, span } of stretches) {
    const commitment = await usedCommitment(context, charging, line, span, held);
    const usage = await ratedUsage(context, charging, line, span, commitment);
    const free = decimal(usage.gross.quantity).minus(decimal(usage.net.quantity));
    rated.push({ ...usage, line, span, free: textOf(free.cmp(zero) > 0 ? free : zero) });
  }
  const commitment = await commitmentOver(context, charging, rated, held);
  return { stretches: rated, commitment };
}

async function commitmentOver(
  context: AskingContext,
  charging: Charging,
  rated: readonly RatedStretch[],
  held: readonly SettlementCommitment[],
): Promise<RatedSettlement['commitment']> {
  const all = held.find(({ line_item_id }) => line_item_id === null);
  if (!all) return null;
  const covered = rated.map(({ line, gross, net }) => ({
    line_id: line.id,
    gross: gross.amount,
    net: net.amount,
  }));
  const period = charging.billing ?? all.span;
  const both = await ratedCommitment(context, charging, period, covered, held);
  return both && { held: all, rated: both.net };
}
