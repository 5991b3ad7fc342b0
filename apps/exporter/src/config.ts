import { clockSkewSeconds, logLevels, portNumber } from '@counterfoil/engine';
import { isSecretKey, secretKeyRule } from '@counterfoil/modules';
import { targetVariables } from '@counterfoil/webhooks';
import { z } from 'zod';

/** Environment variables of the exporter. */
export const exporterConfigSchema = z.object({
  EVENTSTORE_URL: z.string().min(1),
  DATABASE_URL: z.string().min(1),
  /** The same as the API's, which seals the credentials of connections. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule),
  /** The folder of exports to connections of local folders; without it there are none. */
  EXPORT_FOLDER: z.string().min(1).optional(),
  ...targetVariables,
  HOST: z.string().default('127.0.0.1'),
  /** The port of /healthz, /readyz and /metrics. */
  HEALTH_PORT: portNumber.default(0),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  /** By how much the clock of the process may differ from the event store's. */
  CLOCK_SKEW_SECONDS: clockSkewSeconds,
});
export type ExporterConfig = z.output<typeof exporterConfigSchema>;
