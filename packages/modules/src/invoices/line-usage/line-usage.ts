import type { AskingContext } from '@counterfoil/engine/define';
import { type Currency, existing } from '@counterfoil/kernel';
import { countingOf, type Grouping, type UsageShare, usageShares } from '../../usage/index.ts';
import {
  type ComputedAgain,
  computedAgain,
  type UsageAt,
  type UsageThen,
  usageAt,
} from '../computing-again/again.ts';
import { recordedInvoice } from '../computing-again/recorded.ts';
import type { InvoiceLine } from '../events.ts';
import { stretchOf } from '../explaining/usage-of-line.ts';
import type { Invoice } from '../invoice.ts';
import type { InvoiceLineResource, InvoiceResource } from '../schema.ts';
import { type AskedLineUsage, groupingsIn } from './schema.ts';

/** Lines of one invoice whose usage is broken down: each reads its events. */
const linesMaximum = 100;

/**
 * An invoice with the usage of its lines by source, or in the groups that are asked for: as it was counted up to the position of the invoice, so that
 * it says nothing else than what was billed (E 27 B). Usage that came late, or was billed by amount in part, is told by none: its line is a difference. Throws 400
 * where the events are dropped.
 */
export async function withLineUsage(
  context: AskingContext,
  resource: InvoiceResource,
  asked: AskedLineUsage,
  at: UsageAt = usageAt,
): Promise<InvoiceResource> {
  const recorded = await recordedInvoice(context, resource.id);
  if (recorded === null || recorded.invoice.position === null) return resource;
  const again = await computedAgain(context, recorded, { usageAt: at });
  const told = { invoice: recorded.invoice, again, usage: at(recorded.invoice.position) };
  const lines: InvoiceLineResource[] = [];
  let count = 0;
  for (const line of existing(resource.line_items ?? null, 'list of lines')) {
    const own = recorded.invoice.lines.find(({ id }) => id === line.id);
    if (!own || !isBroken(own) || count === linesMaximum) {
      lines.push(line);
      continue;
    }
    count += 1;
    lines.push({ ...line, ...(await usageOf(context, told, own, asked)) });
  }
  return { ...resource, line_items: lines };
}

const isBroken = ({ kind }: InvoiceLine): boolean => kind === 'usage' || kind === 'overage';

interface Told {
  readonly invoice: Invoice;
  readonly again: ComputedAgain;
  readonly usage: UsageThen;
}

async function usageOf(
  context: AskingContext,
  { invoice, again, usage }: Told,
  line: InvoiceLine,
  asked: AskedLineUsage,
): Promise<Partial<Pick<InvoiceLineResource, 'usage_analytics' | 'usage_breakdown'>>> {
  const origin = again.origins.get(line.id);
  const stretch = origin && stretchOf(line, origin.rated);
  // A line for a part of its usage is a difference of the whole: no event belongs to it alone.
  if (!origin || origin.billed !== null || !stretch) return {};
  const { counted, stretches, span } = stretch;
  const sharesIn = (groupings: readonly Grouping[]) =>
    usageShares(
      context,
      usage.inStretches,
      {
        ...{ eventName: counted.event_name, stretches, span },
        aggregation: countingOf(counted).aggregation,
        ...{
          filters: counted.filters,
          sources: [],
          groupings,
          zone: origin.settled.state.timezone,
        },
      },
      { amount: line.amount, currency: invoice.currency as Currency },
    );
  const groupings = groupingsIn(asked);
  return {
    ...(asked.expand_by_source && {
      usage_analytics: (await sharesIn([{ kind: 'source' }])).map(({ group, ...share }) => ({
        source: group[0] ?? '',
        ...partView(share),
      })),
    }),
    ...(groupings.length > 0 && {
      usage_breakdown: (await sharesIn(groupings)).map(({ group, ...share }) => ({
        grouped_by: Object.fromEntries(
          groupings.map((grouping, index) => [nameOf(grouping), group[index] ?? '']),
        ),
        ...partView(share),
      })),
    }),
  };
}

const nameOf = (grouping: Grouping): string =>
  grouping.kind === 'source' ? 'source' : `properties.${grouping.name}`;

const partView = ({ usage, cost, percentage, events }: Omit<UsageShare, 'group'>) => ({
  usage,
  cost,
  percentage,
  event_count: events,
});
