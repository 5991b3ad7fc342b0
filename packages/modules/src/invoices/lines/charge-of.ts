import type { Settled, SettlementLine } from '../../subscriptions/index.ts';
import type { InvoiceLine } from '../events.ts';

type Charge = Extract<SettlementLine, { kind: 'charge' }>;

/** The charge of a settlement that a line of an invoice is for; null for a line of another kind. */
export const chargeOf = (
  { settlement }: Pick<Settled, 'settlement'>,
  line: Pick<InvoiceLine, 'kind' | 'subscription_line_item_id' | 'period_start' | 'period_end'>,
): Charge | null =>
  line.kind !== 'fixed'
    ? null
    : (settlement.lines.find(
        (each): each is Charge =>
          each.kind === 'charge' &&
          each.line_item_id === line.subscription_line_item_id &&
          each.span.start === line.period_start &&
          each.span.end === line.period_end,
      ) ?? null);
