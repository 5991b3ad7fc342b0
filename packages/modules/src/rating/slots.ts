import { type WindowSize, windowMinutes } from '@counterfoil/kernel';
import type { CommitmentSlot } from './request.ts';

const dayMinutes = 24 * 60;

/** The part of a slot that says when it is. */
export type SlotTimes = Pick<CommitmentSlot, 'from_minute' | 'to_minute'>;

/** The place of the slot that a minute of the day lies in; -1 for none. Equal ends are the whole day. */
export const slotAt = (slots: readonly SlotTimes[], minute: number): number =>
  slots.findIndex(({ from_minute: from, to_minute: to }) =>
    from < to ? from <= minute && minute < to : from <= minute || minute < to,
  );

/**
 * Returns what is wrong with the slots of windows of a size (E 14.4); null when nothing is. No window may lie in two
 * slots, or in a part of one, and none is longer than a day.
 */
export function slotFault(slots: readonly SlotTimes[], size: WindowSize): string | null {
  if (slots.length === 0) return null;
  const length = windowMinutes[size] ?? (size === 'DAY' ? dayMinutes : null);
  if (length === null) return `a window of a ${size} lies in no part of a day`;
  const ends = slots.flatMap(({ from_minute, to_minute }) => [from_minute, to_minute]);
  if (!ends.every((end) => Number.isInteger(end) && end >= 0 && end <= dayMinutes))
    return 'parts of the day are in minutes since midnight, from 0 to 1440';
  if (!ends.every((end) => end % length === 0))
    return `parts of the day begin and end with a window of ${length} minutes`;
  for (let minute = 0; minute < dayMinutes; minute += length) {
    if (slots.filter((slot) => slotAt([slot], minute) === 0).length > 1)
      return 'parts of the day do not overlap';
  }
  return null;
}
