type Order = (number | string | null)[];

/**
 * Credits of one load, which count from an instant on, or the part of them that is drawn or held; `since` is
 * the time of their return. A reversal `refilled` it at an instant; only what it had `kept` was there before.
 */
export type Lot = {
  id: string;
  left: bigint;
  from: string;
  refilled?: { at: string; kept: bigint } | null;
  expires: string | null;
  since: string;
  order: Order;
};

/** Credits of all lots. */
export const sum = (lots: readonly Lot[]): bigint =>
  lots.reduce((total, lot) => total + lot.left, 0n);
/** By priority, expiry, free before purchased and age; lots without priority or expiry come last. */
export function drawOrder({ order: a }: Lot, { order: b }: Lot): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  const [left = null, right = null] = [a[place], b[place]];
  return left === null ? 1 : right === null || left < right ? -1 : 1;
}

/** The expiry of a lot; credits that a hold returned too late expire when they return. */
export const goneAt = ({ expires, since }: Lot): string | null =>
  expires !== null && expires < since ? since : expires;

/** Takes credits from lots in their order, as far as they go. Returns the parts; changes the lots. */
export function take(lots: readonly Lot[], credits: bigint): Lot[] {
  let missing = credits;
  return lots.flatMap((lot) => {
    const left = lot.left < missing ? lot.left : missing;
    missing -= left;
    lot.left -= left;
    return left > 0n ? [{ ...lot, left }] : [];
  });
}

/** Takes credits first from what was in the lots at an instant and ever since, and then from the rest. */
export function takeSince(lots: readonly Lot[], credits: bigint, instant: string): [Lot[], Lot[]] {
  let missing = credits;
  const then = lots.flatMap((lot) => {
    const { left, from, refilled } = lot;
    const isLess = refilled && instant < refilled.at && refilled.kept < left;
    const there = from > instant ? 0n : isLess ? refilled.kept : left;
    const parts = take([lot], there < missing ? there : missing);
    missing -= sum(parts);
    return parts;
  });
  const later = take(lots, missing);
  // What a lot has kept from before its return pays once only.
  for (const lot of lots) {
    const { refilled } = lot;
    if (!refilled || instant >= refilled.at) continue;
    const taken = sum([...then, ...later].filter(({ id }) => id === lot.id));
    lot.refilled = { ...refilled, kept: refilled.kept > taken ? refilled.kept - taken : 0n };
  }
  return [then, later];
}

/** One part per lot, at the place of its first. */
export function inOneEach(parts: readonly Lot[]): Lot[] {
  const byLot = new Map<unknown, Lot>();
  for (const part of parts) {
    const known = byLot.get(part.id);
    const from = known && known.from > part.from ? known.from : part.from;
    byLot.set(part.id, { ...part, from, left: part.left + (known?.left ?? 0n) });
  }
  return [...byLot.values()];
}

/** A part that a hold keeps counts from when all of its lot does; what that had kept from before stays with it. */
export const setAside = ({ refilled, ...part }: Lot): Lot => ({
  ...part,
  from: refilled ? refilled.at : part.from,
});

/** Marks a lot to which credits come back that count from an instant. */
export function refill(lot: Lot, instant: string): void {
  const { left, refilled } = lot;
  const kept = refilled && refilled.kept < left ? refilled.kept : left;
  lot.refilled = { at: refilled && refilled.at > instant ? refilled.at : instant, kept };
}
