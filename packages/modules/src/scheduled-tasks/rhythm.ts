import {
  type Instant,
  nextWindow,
  type Span,
  shiftedBy,
  type WindowRhythm,
  windowStart,
} from '@counterfoil/kernel';
import { type ExportInterval, givenIntervals } from './values.ts';

const minute = 60_000;

/** The size of the windows of an interval, and how long after its end a window is taken (E 23.2). */
const rhythms = {
  '15MIN': { size: '15MIN', delayMilliseconds: minute },
  '30MIN': { size: '30MIN', delayMilliseconds: minute },
  hourly: { size: 'HOUR', delayMilliseconds: 15 * minute },
  daily: { size: 'DAY', delayMilliseconds: 15 * minute },
} as const satisfies Record<ExportInterval, object>;

/** The windows of an interval in a zone. */
export interface Rhythm {
  readonly interval: ExportInterval;
  readonly timezone: string;
}

const windowsOf = ({ interval, timezone }: Rhythm): WindowRhythm => ({
  size: rhythms[interval].size,
  zone: timezone,
});

/** The start of the window that an instant lies in. */
export const startOfWindow = (rhythm: Rhythm, at: Instant): Instant =>
  windowStart(windowsOf(rhythm), at);

/** The window that begins at an instant. */
export const windowFrom = (rhythm: Rhythm, start: Instant): Span => ({
  start,
  end: nextWindow(windowsOf(rhythm), start),
});

/** The instant at which a window is due. */
export const dueAt = ({ interval }: Rhythm, { end }: Span): Instant =>
  shiftedBy(end, rhythms[interval].delayMilliseconds);

/** The first instant after another at which a window is due. */
export function nextDueAfter(rhythm: Rhythm, at: Instant): Instant {
  const before = shiftedBy(at, -rhythms[rhythm.interval].delayMilliseconds);
  return dueAt(rhythm, windowFrom(rhythm, startOfWindow(rhythm, before)));
}

/** The windows that lie within a span, whole, up to a number. None for an interval that no task can have. */
export function windowsBetween(
  { interval, timezone }: { readonly interval: string; readonly timezone: string },
  { start, end }: Span,
  maximum: number,
): readonly Span[] {
  const known = givenIntervals.find((each) => each === interval);
  if (known === undefined) return [];
  const rhythm = { interval: known, timezone };
  const first = windowFrom(rhythm, startOfWindow(rhythm, start));
  let window = first.start < start ? windowFrom(rhythm, first.end) : first;
  const windows: Span[] = [];
  for (; window.end <= end && windows.length < maximum; window = windowFrom(rhythm, window.end)) {
    windows.push(window);
  }
  return windows;
}
