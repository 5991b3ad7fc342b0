import { clockSkewSeconds, logLevels, portNumber, wholeNumber } from '@counterfoil/engine';
import { isSecretKey, providerVariables, secretKeyRule } from '@counterfoil/modules';
import { targetVariables } from '@counterfoil/webhooks';
import { z } from 'zod';

/** Environment variables of the projector. */
export const projectorConfigSchema = z.object({
  EVENTSTORE_URL: z.string().min(1),
  DATABASE_URL: z.string().min(1),
  NATS_URL: z.string().min(1),
  /** The size of the public stream; that of an existing one stays where these are not set. */
  EVENT_STREAM_BYTES: wholeNumber(1_048_576, 1_099_511_627_776).optional(),
  EVENT_STREAM_DAYS: wholeNumber(1, 3_650).optional(),
  /** With it, credentials of downstream systems are kept there. */
  EVENT_GATEWAY_URL: z.string().min(1).optional(),
  HOST: z.string().default('127.0.0.1'),
  /** The port of /healthz, /readyz and /metrics. */
  HEALTH_PORT: portNumber.default(0),
  /** Folder for snapshots of long streams; without it they are folded from their first event. */
  SNAPSHOT_FOLDER: z.string().min(1).optional(),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  /** By how much the clock of the process may differ from the event store's. */
  CLOCK_SKEW_SECONDS: clockSkewSeconds,
  /** Without it no checkpoints are taken, and none of the credentials: they could not be signed. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule).optional(),
  CHECKPOINT_INTERVAL_SECONDS: wholeNumber(1, 604_800).default(3_600),
  /** Whole months beside the running one whose usage is kept event by event; without it all is. */
  USAGE_RETENTION_MONTHS: wholeNumber(1, 1_200).optional(),
  VERIFICATION_INTERVAL_SECONDS: wholeNumber(1, 604_800).default(3_600),
  VERIFICATION_EVENTS_PER_SECOND: wholeNumber(1, 1_000_000).default(2_000),
  ...targetVariables,
  ...providerVariables,
});
export type ProjectorConfig = z.output<typeof projectorConfigSchema>;
