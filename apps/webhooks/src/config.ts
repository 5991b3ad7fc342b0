import { logLevels } from '@counterfoil/engine';
import {
  type BreakerPolicy,
  isCidr,
  isSecretKey,
  type RetryPolicy,
  type SendLimits,
  secretKeyRule,
  standardBreakerPolicy,
  standardRetryPolicy,
  standardSendLimits,
  strictTargetPolicy,
  type TargetPolicy,
} from '@counterfoil/modules';
import { z } from 'zod';
import type { Retention } from './retention.ts';

/** What the worker is started with. */
export interface WebhooksConfig {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  readonly eventStoreUrl: string;
  /** COUNTERFOIL_SECRET_KEY, from which the key of sealed texts is derived. */
  readonly secretKey: string;
  readonly policy: TargetPolicy;
  readonly retry: RetryPolicy;
  readonly breaker: BreakerPolicy;
  readonly sendLimits: SendLimits;
  /** Requests at once; and as many again that take longer than `slowAfterMs` to answer. */
  readonly maximumInFlight: number;
  readonly slowAfterMs: number;
  /** Milliseconds after which what a worker has claimed goes to another one. */
  readonly leaseMs: number;
  /** Milliseconds between two looks at the queue when nothing is known to be due. */
  readonly pollMs: number;
  /** Milliseconds between two passes of upkeep. */
  readonly upkeepMs: number;
  readonly retention: Retention;
  /** Address where /healthz, /readyz and /metrics answer. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly healthPort: number;
}

/** Everything that has a default. */
export const webhooksDefaults: Omit<
  WebhooksConfig,
  'databaseUrl' | 'natsUrl' | 'eventStoreUrl' | 'secretKey'
> = {
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
  host: '127.0.0.1',
  healthPort: 0,
};

const list = <Item extends z.ZodType<unknown, string>>(item: Item, maximum: number) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item).max(maximum));

const wholeNumber = (minimum: number, maximum: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(minimum).max(maximum));

const ranges = list(z.string().refine(isCidr, 'must be an address range such as 10.0.0.0/8'), 100);
const longestStepMs = 7 * 24 * 60 * 60 * 1000;

/** Environment variables of the worker. */
export const webhooksEnvironment = z.object({
  DATABASE_URL: z.string().min(1),
  /** Where the worker writes that it disabled an endpoint or gave a message up. */
  EVENTSTORE_URL: z.string().min(1),
  NATS_URL: z.string().min(1),
  /** The same as the API's, which seals the secrets of endpoints. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule),
  WEBHOOK_ALLOW_HTTP: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true'),
  WEBHOOK_ALLOWED_CIDRS: ranges.optional(),
  WEBHOOK_DENIED_CIDRS: ranges.optional(),
  WEBHOOK_RETRY_LADDER_MS: list(wholeNumber(1, longestStepMs), 50).optional(),
  WEBHOOK_SLOW_DOWN_MS: wholeNumber(0, longestStepMs).optional(),
  WEBHOOK_MAX_IN_FLIGHT: wholeNumber(1, 10_000).optional(),
  WEBHOOK_LEASE_MS: wholeNumber(1_000, longestStepMs).optional(),
  WEBHOOK_ATTEMPT_DAYS: wholeNumber(1, 3_650).optional(),
  WEBHOOK_MESSAGE_DAYS: wholeNumber(4, 3_650).optional(),
  HOST: z.string().default('127.0.0.1'),
  /** Where /healthz, /readyz and /metrics are served; 0 takes a free one. */
  HEALTH_PORT: wholeNumber(0, 65_535).optional(),
  LOG_LEVEL: z.enum(logLevels).default('info'),
});

/**
 * An attempt that outlasts its claim would be made a second time at the same moment, and what came of
 * it would count for nothing: with a short lease attempts have to be shorter as well.
 */
function limitsWithin(leaseMs: number): SendLimits {
  const longest = Math.floor((leaseMs * 3) / 4);
  const { sendLimits } = webhooksDefaults;
  const shorten = (limit: number): number => Math.min(limit, longest);
  return {
    ...sendLimits,
    connectTimeout: shorten(sendLimits.connectTimeout),
    headersTimeout: shorten(sendLimits.headersTimeout),
    totalTimeout: shorten(sendLimits.totalTimeout),
  };
}

/** The configuration that the environment variables make. */
export function webhooksConfig(environment: z.output<typeof webhooksEnvironment>): WebhooksConfig {
  const { retry, retention, maximumInFlight } = webhooksDefaults;
  const leaseMs = environment.WEBHOOK_LEASE_MS ?? webhooksDefaults.leaseMs;
  return {
    ...webhooksDefaults,
    databaseUrl: environment.DATABASE_URL,
    natsUrl: environment.NATS_URL,
    eventStoreUrl: environment.EVENTSTORE_URL,
    secretKey: environment.COUNTERFOIL_SECRET_KEY,
    policy: {
      allowHttp: environment.WEBHOOK_ALLOW_HTTP,
      allowedCidrs: environment.WEBHOOK_ALLOWED_CIDRS ?? [],
      deniedCidrs: environment.WEBHOOK_DENIED_CIDRS ?? [],
    },
    retry: {
      ...retry,
      ladder: environment.WEBHOOK_RETRY_LADDER_MS ?? retry.ladder,
      slowDown: environment.WEBHOOK_SLOW_DOWN_MS ?? retry.slowDown,
    },
    maximumInFlight: environment.WEBHOOK_MAX_IN_FLIGHT ?? maximumInFlight,
    leaseMs,
    sendLimits: limitsWithin(leaseMs),
    retention: {
      attemptDays: environment.WEBHOOK_ATTEMPT_DAYS ?? retention.attemptDays,
      messageDays: environment.WEBHOOK_MESSAGE_DAYS ?? retention.messageDays,
    },
    host: environment.HOST,
    healthPort: environment.HEALTH_PORT ?? webhooksDefaults.healthPort,
  };
}
