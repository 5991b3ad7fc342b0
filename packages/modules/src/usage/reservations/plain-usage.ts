import { decimal, zeroText } from '@counterfoil/kernel';
import { type PeriodUse, usedIn } from '../current/current-usage.ts';
import { usageTables } from '../tables.ts';
import type { UsageReads } from '../usage-reads.ts';
import { reservedSums } from './queries.ts';
import type { PlainUsage } from './usage-reservation.ts';

/**
 * The use of a period that came by no reservation: all that is counted, less what came by the reservation. The tables
 * move both together, and the two are read one after the other; so what the reservation has is read before and after, and
 * the truth lies between what the one and the other say. They differ only while something is being counted.
 */
export async function plainUsage(
  reads: UsageReads,
  use: PeriodUse,
  reservation: string,
): Promise<PlainUsage> {
  const before = await reservedSums(reads, reservation);
  const position = await reads.facts.shown(usageTables);
  const all = decimal((await usedIn(reads, use)) ?? zeroText);
  const after = await reservedSums(reads, reservation);
  return {
    least: all.minus(after.counted.minus(before.voided)),
    most: all.minus(before.counted.minus(after.voided)),
    position,
  };
}
