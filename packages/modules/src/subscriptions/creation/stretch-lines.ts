import type { RequestContext } from '@counterfoil/engine/define';
import {
  type Currency,
  earlierOf,
  type Instant,
  invalidField,
  invalidOperation,
  laterOf,
  type PhaseId,
  type SubscriptionId,
  sequencedId,
} from '@counterfoil/kernel';
import type { Offer } from '../../offers/index.ts';
import type { LineCommitments } from '../commitments/schema.ts';
import { maximumLines, type OrderedLineBody, type OverrideLine } from '../schema.ts';
import { extraLine } from './extra-line.ts';
import { offeredLines, type UnnamedLine, withMeterName } from './offered.ts';
import type { Rhythm } from './offered-prices.ts';
import type { OrderedLine } from './ordered-line.ts';

/** A subscription that lines are ordered for. */
export interface LineHost {
  readonly id: SubscriptionId;
  readonly plan: Offer;
  readonly currency: Currency;
  readonly rhythm: Rhythm;
  /** Commitments of lines of the plan, by the ids of their prices. */
  readonly commitments: LineCommitments | null;
}

/** The part of its life that they are for. */
export interface Stretch {
  /** That which ids of prices of its own follow from: the subscription, or a phase. */
  readonly owner: string;
  readonly start: Instant;
  /** Null: the lines are for all of its life. */
  readonly phase: {
    readonly id: PhaseId;
    readonly end: Instant | null;
    /** True where it begins with the subscription, after its trial. */
    readonly is_first: boolean;
  } | null;
  /** False where the plan is sold for other parts of its life. */
  readonly has_plan: boolean;
  readonly overrides: readonly OverrideLine[];
  readonly line_items: readonly OrderedLineBody[];
  /** The place of both in the request. */
  readonly pointer: string;
}

/** The lines for a part of the life of a subscription: those of its plan, and those that are ordered beside. */
export async function linesOfStretch(
  context: RequestContext,
  host: LineHost,
  stretch: Stretch,
): Promise<OrderedLine[]> {
  const { id, plan, currency, rhythm, commitments } = host;
  const { owner, start, overrides, pointer } = stretch;
  const sale = { id, owner, offer: plan, currency, rhythm, start, overrides, commitments, pointer };
  const sold = stretch.has_plan ? offeredLines(sale, context.now) : [];
  const plan_name = plan.root.record.name;
  const extra: UnnamedLine[] = [];
  for (const [index, line] of stretch.line_items.entries()) {
    const place = `${pointer}/line_items/${index}`;
    const price_id = sequencedId('price', context.now, owner, maximumLines + index);
    const ordered = { id, currency, plan_name, rhythm, start, pointer: place, price_id };
    extra.push(within(stretch, await extraLine(context, ordered, line), place));
  }
  const all = [...sold.map((line) => within(stretch, line, pointer)), ...extra];
  return Promise.all(all.map((line) => withMeterName(context, line)));
}

/** A line within the dates of the phase that it is for. */
function within({ start, phase }: Stretch, line: UnnamedLine, pointer: string): UnnamedLine {
  if (phase === null) return line;
  const { end } = phase;
  if (end !== null && line.end_date !== null && line.end_date > end) {
    throw invalidField(`${pointer}/end_date`, `must not be after the end of its phase, ${end}`);
  }
  const from = line.from === null ? start : laterOf(line.from, start);
  return {
    ...line,
    subscription_phase_id: phase.id,
    from: phase.is_first && line.from === null ? null : from,
    end_date:
      end !== null && line.end_date !== null
        ? earlierOf(line.end_date, end)
        : (line.end_date ?? end),
  };
}

/** Refuses more lines than a subscription may have. */
export function assertRoom(lines: readonly unknown[]): void {
  if (lines.length <= maximumLines) return;
  throw invalidOperation(
    `A subscription has at most ${maximumLines} lines: this has ${lines.length}.`,
    { reason: 'limit_reached', limit: maximumLines },
  );
}
