export * from './head-tree.ts';
export * from './log-tree.ts';
export * from './merkle.ts';
export * from './signing-key.ts';
export {
  type RoundCheck,
  startVerification,
  type Verification,
  type VerificationOptions,
} from './verification.ts';
export type { Finding } from './verification-record.ts';
export * from './verify-chains.ts';
