import type { Canary } from './canary.ts';
import list from './planted-bugs.json' with { type: 'json' };

/** Bugs of one subject. */
export interface Flock {
  readonly subject: string;
  readonly canaries: readonly PlantedBug[];
  /** Sets of test files, each of which finds every bug of the flock by itself. */
  readonly foundBy: readonly (readonly string[])[];
}

/** A canary of the list. */
export interface PlantedBug extends Canary {
  /** True for those that every run of the tests releases; the others wait for the long run. */
  readonly isTelling?: boolean;
}

/** Every bug that the tests of the project have to find: the list in `planted-bugs.json`. */
export const flocks: readonly Flock[] = list.map(({ subject, folders, foundBy, bugs }) => ({
  subject,
  foundBy,
  canaries: bugs.map((bug) => ({ ...bug, folders })),
}));
