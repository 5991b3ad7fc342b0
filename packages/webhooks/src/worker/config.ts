import { listOf, wholeNumber } from '@counterfoil/engine';
import type { z } from 'zod';
import { type BreakerPolicy, standardBreakerPolicy } from '../queue/health.ts';
import type { Retention } from '../queue/upkeep-store.ts';
import { type RetryPolicy, standardRetryPolicy } from '../sending/retry.ts';
import { type SendLimits, standardSendLimits } from '../sending/sender.ts';
import { strictTargetPolicy, type TargetPolicy } from '../sending/target-policy.ts';
import { targetPolicyOf, targetVariables } from '../sending/target-variables.ts';

/** The settings of a delivery worker. Times are in milliseconds. */
export interface WorkerConfig {
  readonly databaseUrl: string;
  readonly policy: TargetPolicy;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly sendLimits: SendLimits;
  /** Requests at once; and as many again that take longer than `slowAfterMs` to answer. */
  readonly maximumInFlight: number;
  readonly slowAfterMs: number;
  /** The time after which another worker may claim the deliveries of this one. */
  readonly leaseMs: number;
  /** Between two looks at the queue when nothing is known to be due. */
  readonly pollMs: number;
  /** Between two passes of upkeep. */
  readonly upkeepMs: number;
  readonly retention: Retention;
}

/** Every setting that has a default. */
export const workerDefaults: Omit<WorkerConfig, 'databaseUrl'> = {
  policy: strictTargetPolicy,
  retry: standardRetryPolicy,
  breaker: standardBreakerPolicy,
  sendLimits: standardSendLimits,
  maximumInFlight: 512,
  slowAfterMs: 1_000,
  // Longer than an attempt can take, with room for a slow database.
  leaseMs: 60_000,
  pollMs: 250,
  upkeepMs: 1_000,
  retention: { attemptDays: 30, messageDays: 90 },
};

const longestStepMs = 7 * 24 * 60 * 60 * 1000;
const { retry, retention } = workerDefaults;

/** The environment variables that change these settings. */
export const workerVariables = {
  ...targetVariables,
  WEBHOOK_RETRY_LADDER_MS: listOf(wholeNumber(1, longestStepMs), 50).default([...retry.ladder]),
  WEBHOOK_SLOW_DOWN_MS: wholeNumber(0, longestStepMs).default(retry.slowDown),
  WEBHOOK_MAX_IN_FLIGHT: wholeNumber(1, 10_000).default(workerDefaults.maximumInFlight),
  WEBHOOK_LEASE_MS: wholeNumber(1_000, longestStepMs).default(workerDefaults.leaseMs),
  WEBHOOK_ATTEMPT_DAYS: wholeNumber(1, 3_650).default(retention.attemptDays),
  WEBHOOK_MESSAGE_DAYS: wholeNumber(4, 3_650).default(retention.messageDays),
} as const;

type WorkerEnvironment = z.output<z.ZodObject<typeof workerVariables>>;

/**
 * An attempt that outlasts its claim would be made a second time at the same moment, and its own
 * outcome would count for nothing: with a short lease attempts have to be shorter as well.
 */
function limitsWithin(leaseMs: number): SendLimits {
  const longest = Math.floor((leaseMs * 3) / 4);
  const { sendLimits } = workerDefaults;
  const shorten = (limit: number): number => Math.min(limit, longest);
  return {
    ...sendLimits,
    connectTimeout: shorten(sendLimits.connectTimeout),
    headersTimeout: shorten(sendLimits.headersTimeout),
    totalTimeout: shorten(sendLimits.totalTimeout),
  };
}

/** The settings that the environment variables make. */
export const workerConfig = (
  environment: WorkerEnvironment,
  databaseUrl: string,
): WorkerConfig => ({
  ...workerDefaults,
  databaseUrl,
  policy: targetPolicyOf(environment),
  retry: {
    ...retry,
    ladder: environment.WEBHOOK_RETRY_LADDER_MS,
    slowDown: environment.WEBHOOK_SLOW_DOWN_MS,
  },
  maximumInFlight: environment.WEBHOOK_MAX_IN_FLIGHT,
  leaseMs: environment.WEBHOOK_LEASE_MS,
  sendLimits: limitsWithin(environment.WEBHOOK_LEASE_MS),
  retention: {
    attemptDays: environment.WEBHOOK_ATTEMPT_DAYS,
    messageDays: environment.WEBHOOK_MESSAGE_DAYS,
  },
});
