export type { Difference } from './row-difference.ts';
export { type RoundCheck, startVerification, type Verification } from './verification.ts';
export type { Finding } from './verification-record.ts';
export { type LogWitness, type VerifyReport, verifyReadModel } from './verify.ts';
export * from './verify-chains.ts';
