import { misplaced, placesOf } from '../canaries/canary.ts';
import { flocks } from '../canaries/planted-bugs.ts';
import type { Rule } from './source.ts';

/** Every planted bug has its place in the code, so that a change of the text is noticed with the change. */
export const plantedBugsHaveOnePlace: Rule = () =>
  flocks
    .flatMap(({ canaries }) => canaries)
    .flatMap((canary) => {
      const paths = placesOf(canary);
      if (paths.length === 1) return [];
      const path = 'packages/testkit/src/canaries/planted-bugs.json';
      return [{ path, line: 1, message: misplaced(canary, paths) }];
    });
