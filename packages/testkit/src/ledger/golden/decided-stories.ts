import type { StoredEvent } from '@counterfoil/engine';
import {
  type CustomerId,
  type DecimalText,
  decimal,
  type Instant,
  type InvoiceId,
} from '@counterfoil/kernel';
import { notePaidUsage, paidUsage } from '@counterfoil/modules';
import { couponUse, returnCoupon, useCoupon } from '../../../../modules/src/invoices/coupons.ts';
import {
  applyRerate,
  invoiceRerating,
  refuseCorrection,
} from '../../../../modules/src/rerating/invoice-rerating.ts';
import {
  keepGrouping,
  leaveGroupingOut,
  usageGrouping,
} from '../../../../modules/src/usage/groupings/usage-grouping.ts';
import {
  reserveUsage,
  usageReservation,
} from '../../../../modules/src/usage/reservations/usage-reservation.ts';
import { memoryWorld } from '../../memory-world.ts';
import { testPrincipal } from '../../principal.ts';
import { aggregates } from './golden.ts';

const figure = (text: string) => text as DecimalText;
const instant = (text: string) => text as Instant;
const invoiceId = 'inv_golden' as InvoiceId;
const customerId = 'cust_golden' as CustomerId;

/**
 * Stories that no single request makes, told by the decisions themselves: of what others do faster, of much usage, and of limits that usage is let
 * through within.
 */
export async function decidedStories(): Promise<readonly (readonly StoredEvent[])[]> {
  const world = memoryWorld(aggregates);
  const context = world.request(testPrincipal());
  for (const decision of [useCoupon(invoiceId), returnCoupon(invoiceId)]) {
    await context.execute(couponUse, 'coupon_assoc_golden', decision);
  }
  const cheaper = {
    ...{ line_id: 'inv_line_golden', display_name: 'Calls', price_type: 'USAGE' as const },
    net: figure('-9'),
  };
  const code = 'invalid_operation';
  for (const decision of [
    applyRerate({ prices: [], memo: 'Agreed', differences: [cheaper] }),
    refuseCorrection(1, { code, message: 'Less is left of the invoice.' }),
  ]) {
    await context.execute(invoiceRerating, invoiceId, decision);
  }
  const definition = {
    ...{ event_name: 'calls', field: 'tokens', expression: null, group_by: 'region' },
    filters: [{ key: 'model', values: ['large'] }],
  };
  for (const decision of [keepGrouping(definition), leaveGroupingOut(definition)]) {
    await context.execute(usageGrouping, 'grouping_golden', decision);
  }
  const paid = notePaidUsage({ payer_id: customerId, customer_ids: [customerId] });
  await context.execute(paidUsage, 'subs_golden', paid);
  await context.execute(usageReservation, 'reservation_golden', reserved());
  return [...Map.groupBy(world.store.log, ({ stream }) => stream).values()];
}

/** Ten calls within a hundred of a month, of which thirty are used already. */
function reserved() {
  const usage = {
    ...{ event_name: 'calls', external_customer_id: 'ada', event_id: 'event_golden' },
    ...{ timestamp: instant('2026-01-07T12:00:00.000Z'), properties: { tokens: 10 } },
  };
  return reserveUsage({
    ...{ customer_id: customerId, feature_id: 'feat_golden', usage },
    period_start: instant('2026-01-01T00:00:00.000Z'),
    period_end: instant('2026-02-01T00:00:00.000Z'),
    ...{ limit: figure('100'), quantity: figure('10') },
    plain: { least: decimal(figure('30')), most: decimal(figure('30')), position: '7' },
  });
}
