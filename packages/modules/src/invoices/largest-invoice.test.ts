import { contentsBytesMaximum } from '@counterfoil/engine/define';
import type { DecimalText, Instant, InvoiceLineId } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { maximumCoupons, maximumHeirs, maximumLines } from '../subscriptions/index.ts';
import { groupedLinesMaximum } from './drafting/cause.ts';
import type { AppliedCoupon, InvoiceLine } from './events.ts';
import { lateLinesMaximum } from './lines/late-usage.ts';

const test = suite('the largest invoice');

/** A name as long as names may be, of characters that take three bytes each. */
const name = '界'.repeat(255);
const id = 'x'.repeat(40);
const figure = '-1234567890123456.123456789012345' as DecimalText;
const instant = '2026-01-01T00:00:00.000Z' as Instant;

const line: InvoiceLine = {
  id: id as InvoiceLineId,
  kind: 'late_usage',
  subscription_id: id,
  subscription_line_item_id: id,
  entity_type: 'SUBSCRIPTION',
  entity_id: id,
  plan_display_name: name,
  price_id: id,
  price_type: 'USAGE',
  price_unit: id,
  price_unit_id: id,
  price_unit_amount: figure,
  meter_id: id,
  meter_display_name: name,
  display_name: name,
  quantity: figure,
  free_quantity: figure,
  amount: figure,
  period_start: instant,
  period_end: instant,
  commitment: {
    ...{ amount: figure, quantity: null, overage_factor: figure, true_up_enabled: true },
    ...{ is_windowed: true, utilized: figure, overage: figure, true_up: figure },
  },
  rules: 1,
  metadata: { description: `${name} (Usage Charge)`, billed_before: figure },
  line_discount: figure,
  invoice_discount: figure,
  credits: figure,
  tax: figure,
};

const coupon: AppliedCoupon = {
  id: id as AppliedCoupon['id'],
  line_id: id as InvoiceLineId,
  coupon_id: id,
  coupon_association_id: id,
  subscription_id: id,
  name,
  discount: { type: 'fixed', amount_off: figure, percentage_off: null } as never,
  original_price: figure,
  discounted_amount: figure,
  final_price: figure,
};

const bytes = (value: object): number => Buffer.byteLength(JSON.stringify(value));

test('an invoice of all that may be invoiced together fits into one event', () => {
  // Usage within and above a commitment, charges in advance, and the rest of the commitment.
  const ofMembers = maximumHeirs * (3 * groupedLinesMaximum + 1);
  const ofParent = 3 * maximumLines + 1;
  // The settlement that fills the room is shown whole.
  const late = lateLinesMaximum + maximumLines;
  const lines = bytes(line) * (ofMembers + ofParent + late);
  const coupons = bytes(coupon) * (maximumHeirs + 1) * maximumCoupons;
  assert.ok(lines + coupons < contentsBytesMaximum, `${lines} of lines, ${coupons} of coupons`);
});

test.run();
