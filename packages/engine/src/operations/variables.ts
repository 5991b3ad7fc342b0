import { z } from 'zod';

/** The schema of a variable that is a whole number within bounds. */
export const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum));

/** The schema of a variable that is a port; 0 takes a free one. */
export const portNumber = wholeNumber(0, 65_535);

/** The schema of a variable that is `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** The schema of a variable that is a list with commas between its items. */
export const listOf = <Item extends z.ZodType<unknown, string>>(item: Item, maximum: number) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item).max(maximum));

export const clockSkewDefault = 5;

/**
 * The seconds by which the clock of a process may differ from the event store's. The event store's is known
 * to a second, and it refuses every append of a process that is 8 s behind it.
 */
export const clockSkewSeconds = wholeNumber(2, 6).default(clockSkewDefault);
