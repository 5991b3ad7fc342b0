export {
  closingLines,
  isAdvance,
  openingLines,
  type SettlementContext,
} from './boundaries.ts';
export {
  addLine,
  addLineOnce,
  type Cancellation,
  type Change,
  cancellationLines,
  changeQuantity,
  type Proration,
  type Replacement,
  removeLine,
  replaceLine,
} from './changes.ts';
export type { ChargedLine, ChargedSpan, InvoicedCharge } from './charged-line.ts';
export type { ChargedCommitment } from './commitments.ts';
export {
  type BillingPeriod,
  cycleAfterPause,
  isSameLength,
  type OwnCycle,
  ownCycle,
  ownPeriodsIn,
} from './own-cycle.ts';
export { afterPause, lengthened, overhangLines } from './pauses.ts';
export {
  type ChangeType,
  changePlan,
  changeType,
  type PlanChangeLines,
  type PlanSide,
  restOf,
} from './plan-change.ts';
export { prorated } from './proration.ts';
export {
  type Settlement,
  type SettlementCause,
  type SettlementCharge,
  type SettlementCommitment,
  type SettlementCredit,
  type SettlementLine,
  type SettlementReason,
  type SettlementUsage,
  settlementOf,
  settlementReasons,
  settlementSchema,
} from './settlement.ts';

export { billableLength, during, outside, type PauseSpan, pausedIn } from './spans.ts';
