import { openings } from '../system/openings.ts';

/** Everything that test files have opened for all those of their process; the worker closes it after the last. */
export const openedTogether = openings();
