export { type AttemptOutcome, carryOutRun, type ExportTools } from './carry-out.ts';
