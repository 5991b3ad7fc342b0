export type { CommitmentSplit } from './commitment.ts';
export type { LineExplanation, UsageCharge } from './first-rules.ts';
export type { AllowanceWindow, QuantityStep, TakenAllowance } from './quantity.ts';
export {
  currentRules,
  type RatedCommitment,
  type RatedLine,
  type RulesVersion,
  rate,
  rateCommitment,
  rulesVersionSchema,
} from './rate.ts';
export type {
  Allowance,
  CommitmentSlot,
  CommitmentTerms,
  FixedLine,
  LineCommitment,
  MeteredBy,
  RatingRequest,
  Usage,
  UsageBucket,
  UsageLine,
  UsageWindow,
} from './request.ts';
export { slotFault } from './slots.ts';
export type {
  CommitmentExplanation,
  CoveredLine,
  LineShare,
  SubscriptionCommitment,
} from './subscription-commitment.ts';
export { type CommitmentTerm, commitmentTerm } from './term.ts';
export { type AllowanceRhythm, usageWindows, type WantedWindow } from './usage-windows.ts';
export type { CommittedWindow, EmptyWindows, WindowedCharge } from './windowed-commitment.ts';
