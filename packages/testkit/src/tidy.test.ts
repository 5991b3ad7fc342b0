// What must hold for the text of the whole checkout and cannot be said in a linter's rules.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import {
  arrowsRunOneWay,
  everyPackageHasArrows,
  oneFileKnowsTheEventStoreClient,
} from './tidy/arrows.ts';
import { plantedBugsHaveOnePlace } from './tidy/canaries.ts';
import { citationsLeadSomewhere, linksLeadSomewhere, namedFilesExist } from './tidy/citations.ts';
import {
  everySuiteRuns,
  filesAreShort,
  namesAreUniform,
  noPathOfAMachine,
  nothingIsLeftUnfinished,
  nothingIsUnchecked,
} from './tidy/hygiene.ts';
import { lockFileIsCurrent, versionsArePinned } from './tidy/manifests.ts';
import { decidingCodeIsPure } from './tidy/purity.ts';
import {
  everySliceIsComplete,
  slicesAreImportedThroughTheirIndex,
  slicesFormNoCircle,
} from './tidy/slices.ts';
import { type Rule, readSources, type Violation } from './tidy/source.ts';
import { timeComesFromClocks } from './tidy/system-time.ts';
import { docstringsDefine, nobodyIsHe, retiredWordsAreGone } from './tidy/words.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

const RULES: Readonly<Record<string, Rule>> = {
  'packages import along the arrows': arrowsRunOneWay,
  'every package has its arrows': everyPackageHasArrows,
  "one file of engine knows the event store's client": oneFileKnowsTheEventStoreClient,
  'slices form no circle': slicesFormNoCircle,
  'slices are imported through their index': slicesAreImportedThroughTheirIndex,
  'every slice is complete': everySliceIsComplete,
  'deciding code is pure': decidingCodeIsPure,
  'time comes from clocks': timeComesFromClocks,
  'files are short': filesAreShort,
  'names of files are uniform': namesAreUniform,
  'nothing is left unfinished': nothingIsLeftUnfinished,
  'no path of a machine': noPathOfAMachine,
  'nothing is unchecked': nothingIsUnchecked,
  'every suite runs': everySuiteRuns,
  'retired words are gone': retiredWordsAreGone,
  'docstrings define': docstringsDefine,
  'nobody is he': nobodyIsHe,
  'citations lead to a page': citationsLeadSomewhere,
  'files that prose names exist': namedFilesExist,
  'links lead to a file': linksLeadSomewhere((path) => existsSync(join(ROOT, path))),
  'planted bugs have one place': plantedBugsHaveOnePlace,
  'the lock file is current': lockFileIsCurrent(
    readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
  ),
  'versions are pinned': versionsArePinned,
};

/** Only the list is of interest, so the error comes without a stack. */
function complaint(violations: readonly Violation[]): Error {
  const lines = violations.map(({ path, line, message }) => `    ${path}:${line}: ${message}`);
  const error = new Error(`${violations.length} violations\n${lines.join('\n')}`);
  error.stack = error.name;
  return error;
}

const test = suite('tidy');
const sources = readSources(ROOT);

for (const [name, rule] of Object.entries(RULES)) {
  test(name, () => {
    const violations = rule(sources);
    if (violations.length > 0) throw complaint(violations);
  });
}

test.run();
