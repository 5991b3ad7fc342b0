import { clockSkewSeconds, logLevels, portNumber, wholeNumber } from '@counterfoil/engine';
import {
  defaultQuotas,
  isSecretKey,
  providerVariables,
  type Quotas,
  secretKeyRule,
} from '@counterfoil/modules';
import { targetVariables } from '@counterfoil/webhooks';
import { z } from 'zod';

const quota = wholeNumber(1, 100_000).optional();

/** Environment variables of the API. */
export const apiConfigSchema = z.object({
  EVENTSTORE_URL: z.string().min(1),
  DATABASE_URL: z.string().min(1),
  /** For the feed of public events, and for what processes of the API say to one another. */
  NATS_URL: z.string().min(1).optional(),
  /** For credentials of downstream systems; only they need it. */
  EVENT_GATEWAY_URL: z.string().min(1).optional(),
  /** The address at which downstream systems reach the gateway, when it is another. */
  EVENT_GATEWAY_PUBLIC_URL: z.string().min(1).optional(),
  /** 32 bytes, hexadecimal or base64, from which API keys and sealed secrets are made. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule),
  HOST: z.string().default('127.0.0.1'),
  PORT: portNumber.default(4000),
  /** The key of the operator API; without it there is none. */
  OPERATOR_KEY: z.string().min(32, 'must have at least 32 characters').max(512).optional(),
  OPERATOR_HOST: z.string().default('127.0.0.1'),
  OPERATOR_PORT: portNumber.default(4010),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  /** By how much the clock of the process may differ from the event store's. */
  CLOCK_SKEW_SECONDS: clockSkewSeconds,
  /** Folder for snapshots of long streams; without it they are folded from their first event. */
  SNAPSHOT_FOLDER: z.string().min(1).optional(),
  /** The folder of exports to local folders, where it is that of the exporter: connections to folders are tried in it. */
  EXPORT_FOLDER: z.string().min(1).optional(),
  /** Requests per second that one API key may make of this process. */
  RATE_LIMIT_PER_SECOND: wholeNumber(1, 1_000_000).default(2_000),
  /** The quotas of a tenant, and of an environment (D45): `defaultQuotas` where there is none. */
  TENANT_REFUSALS_PER_HOUR: wholeNumber(1, 1_000_000_000).optional(),
  TENANT_PUBLIC_BYTES_PER_HOUR: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  TENANT_ENVIRONMENTS: quota,
  TENANT_USERS: quota,
  ENVIRONMENT_API_KEYS: quota,
  ENVIRONMENT_WEBHOOK_ENDPOINTS: quota,
  ENVIRONMENT_EVENT_SUBSCRIPTIONS: quota,
  /** Members of requests that nobody knows are refused or ignored (D6). */
  UNKNOWN_NAMES: z.enum(['refuse', 'ignore']).default('refuse'),
  /** Origins whose pages may call the API from a browser. */
  CORS_ORIGINS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((origin) => origin.trim() || [])),
  ...targetVariables,
  ...providerVariables,
});
export type ApiConfig = z.output<typeof apiConfigSchema>;

/** The quotas of an installation: those that the variables set, and the others as they are. */
export const quotasOf = (config: ApiConfig): Quotas => ({
  refusalsPerHour: config.TENANT_REFUSALS_PER_HOUR ?? defaultQuotas.refusalsPerHour,
  publicBytesPerHour: config.TENANT_PUBLIC_BYTES_PER_HOUR ?? defaultQuotas.publicBytesPerHour,
  environments: config.TENANT_ENVIRONMENTS ?? defaultQuotas.environments,
  users: config.TENANT_USERS ?? defaultQuotas.users,
  apiKeys: config.ENVIRONMENT_API_KEYS ?? defaultQuotas.apiKeys,
  webhookEndpoints: config.ENVIRONMENT_WEBHOOK_ENDPOINTS ?? defaultQuotas.webhookEndpoints,
  eventSubscriptions: config.ENVIRONMENT_EVENT_SUBSCRIPTIONS ?? defaultQuotas.eventSubscriptions,
});
