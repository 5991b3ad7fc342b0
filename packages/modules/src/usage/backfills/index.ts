export { type BackfillEvent, usageBackfill } from './backfill.ts';
export { fillWaiting } from './fill-waiting.ts';
export { followBackfill } from './follow-backfill.ts';
export {
  type BackfillTables,
  backfillRelations,
  comparedBackfills,
  createBackfillTables,
} from './tables.ts';
