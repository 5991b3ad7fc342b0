export { askParts, type ShownPart, shownParts } from './ask-parts.ts';
export { type FactReadSide, type FactsOf, factsFrom, RecentFacts } from './fact-reads.ts';
export { FactsBesideTaken, withFactsBeside } from './facts-beside.ts';
export { type FillingTracker, trackFillings } from './filling-tracker.ts';
export { type Fillings, startFillings } from './fillings.ts';
export { IntakeWriter, type IntakeWriterOptions } from './intake-writer.ts';
export type { PartWish } from './part-wishes.ts';
export { rebuildFacts } from './rebuild-facts.ts';
export { type FactReport, verifyFacts } from './verify-facts.ts';
