import { openings } from '../system/openings.ts';

/** What the test files of one process have opened for all of them; the worker closes it after the last file. */
export const openedTogether = openings();
