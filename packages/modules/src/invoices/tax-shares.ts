import { textOf } from '@counterfoil/kernel';
import { type Bill, type BilledTax, netsOf, type UntaxedBill } from './amounts.ts';

/**
 * The taxes of an invoice on lines as they would have been otherwise. What a tax provider has said of a line stands as long as the
 * line comes to the same; of another one it is worked out by the percentage that the provider has told (ADR 59).
 */
export function taxesOfOtherLines(before: Bill, after: UntaxedBill): readonly BilledTax[] {
  if (before.taxes.every(({ shares }) => shares === undefined)) return before.taxes;
  const stays = sameLines(before, after);
  return before.taxes.flatMap(({ shares, line_ids, ...rate }): BilledTax[] => {
    if (!shares) return [{ ...rate, ...(line_ids && { line_ids }) }];
    const [kept, others] = [
      shares.filter(({ line_id }) => stays.has(line_id)),
      shares.filter(({ line_id }) => !stays.has(line_id)),
    ];
    const idsOf = (some: typeof shares) => some.map(({ line_id }) => line_id);
    return [
      ...(kept.length > 0 ? [{ ...rate, line_ids: idsOf(kept), shares: kept }] : []),
      ...(others.length > 0 ? [{ ...rate, line_ids: idsOf(others) }] : []),
    ];
  });
}

/** The ids of lines that come to the same in both, after discounts. */
function sameLines(before: UntaxedBill, after: UntaxedBill): ReadonlySet<string> {
  const netOf = (bill: UntaxedBill) => {
    const nets = netsOf(bill);
    return bill.lines.map(({ id }, index) => {
      const net = nets[index];
      return [id as string, net ? textOf(net) : null] as const;
    });
  };
  const earlier = new Map(netOf(before));
  return new Set(netOf(after).flatMap(([id, net]) => (earlier.get(id) === net ? [id] : [])));
}
