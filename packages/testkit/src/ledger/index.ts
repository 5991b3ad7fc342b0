// The wallet that tests compare with: its rules once more, in whole numbers, without the code under test.
export { viewIn } from './answers.ts';
export type { Command } from './commands.ts';
export { effectOf, entryNumbers } from './effects.ts';
export { newIdsIn } from './history.ts';
export { Oracle } from './oracle.ts';
export { shownCredits } from './units.ts';
