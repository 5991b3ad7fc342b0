/**
 * The options with which tests start processes of Node. Whoever loads all of the code makes much garbage at once: with the
 * little room that Node gives new objects at first, a fifth of the processor time of a start goes into collecting it.
 */
export const nodeOptions: readonly string[] = [
  '--min-semi-space-size=32',
  '--max-semi-space-size=64',
];
