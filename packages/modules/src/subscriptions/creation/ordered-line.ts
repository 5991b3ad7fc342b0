import {
  type DecimalText,
  decimal,
  type Instant,
  invalidField,
  laterOf,
} from '@counterfoil/kernel';
import type { StartData } from '../events.ts';
import { billedEvery, type LineData, type SoldPrice } from '../lines/line.ts';
import { ownCycle } from '../settlement/index.ts';

/** A line as it is ordered, before it is known when the subscription begins. */
export interface OrderedLine {
  readonly price: SoldPrice;
  readonly entity_type: LineData['entity_type'];
  readonly entity_id: string;
  readonly entity_name: string;
  readonly meter_display_name: string | null;
  readonly display_name: string;
  readonly quantity: DecimalText;
  /** The earliest instant from which it is charged; null: from the start of the subscription. */
  readonly from: Instant | null;
  readonly end_date: Instant | null;
  readonly subscription_phase_id: LineData['subscription_phase_id'];
  readonly commitment: LineData['commitment'];
  readonly metadata: LineData['metadata'];
}

/** The dates of a line: it is charged from the start of the first period, or later when it begins later. */
export function lineDates(
  { cycle }: Pick<StartData, 'cycle'>,
  timezone: string,
  { price, from, end_date }: Pick<OrderedLine, 'price' | 'from' | 'end_date'>,
): Pick<LineData, 'start_date' | 'end_date' | 'own'> {
  const start_date = from === null ? cycle.start : laterOf(from, cycle.start);
  const own = ownCycle(billedEvery(price), cycle, start_date, timezone);
  // One whose end has come before it begins is never charged.
  return { start_date, end_date: end_date === null ? null : laterOf(end_date, start_date), own };
}

/** The quantity of a line: as asked for, else the least that is billed, else one (E 2.4). */
export function quantityOf(
  { type, min_quantity }: Pick<SoldPrice, 'type' | 'min_quantity'>,
  asked: DecimalText | null,
  pointer: string,
): DecimalText {
  if (type === 'USAGE') {
    if (asked !== null && asked !== '0') {
      throw invalidField(pointer, 'a price of usage is charged by its meter');
    }
    return '0' as DecimalText;
  }
  const least = min_quantity === null || min_quantity === '0' ? null : min_quantity;
  if (asked === null || asked === '0') return (least ?? '1') as DecimalText;
  if (least !== null && decimal(asked).cmp(decimal(least)) < 0) {
    throw invalidField(pointer, `must be at least ${least}, the minimum of the price`);
  }
  return asked;
}
