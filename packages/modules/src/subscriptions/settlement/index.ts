export {
  closingLines,
  isAdvance,
  openingLines,
  type SettlementContext,
} from './boundaries.ts';
export type { ChargedLine, ChargedSpan } from './charged-line.ts';
export {
  type BillingPeriod,
  cycleAfterPause,
  isSameLength,
  type OwnCycle,
  ownCycle,
} from './own-cycle.ts';
export {
  type Settlement,
  type SettlementCause,
  type SettlementCharge,
  type SettlementCredit,
  type SettlementLine,
  type SettlementReason,
  type SettlementUsage,
  settlementOf,
  settlementReasons,
  settlementSchema,
} from './settlement.ts';
