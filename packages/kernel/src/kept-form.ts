import type { Instant } from './instant.ts';

/** The form in which the log keeps the data of an event: without the members that follow from the rest. */
export interface KeptForm {
  /** The data without what follows from the rest of it and from the instant of the event. */
  readonly shorten: (data: unknown, at: Instant) => unknown;
  /** The whole data again. */
  readonly complete: (kept: unknown, at: Instant) => unknown;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * A form that leaves members out where they have the value that they are taken to have when they are
 * absent.
 *
 * @param implied those values, from members that are never left out; the same for the whole data and for
 *   the short form of it
 */
export const leavingOut = (implied: (data: Members, at: Instant) => Members): KeptForm => ({
  shorten: (data, at) => {
    const whole = data as Members;
    const values = implied(whole, at);
    const kept: Record<string, unknown> = {};
    for (const name of Object.keys(whole)) {
      if (!Object.hasOwn(values, name) || !isSame(values[name], whole[name])) {
        kept[name] = whole[name];
      }
    }
    return kept;
  },
  complete: (kept, at) => ({ ...implied(kept as Members, at), ...(kept as Members) }),
});

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (isEmptyObject(one) && isEmptyObject(other));

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.keys(value).length === 0;
