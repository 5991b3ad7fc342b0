import { logLevels } from '@counterfoil/engine';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);

/** Environment variables of the projector. */
export const projectorConfigSchema = z.object({
  EVENTSTORE_URL: z.string().min(1),
  DATABASE_URL: z.string().min(1),
  NATS_URL: z.string().min(1),
  HOST: z.string().default('127.0.0.1'),
  /** Where /healthz, /readyz and /metrics are served. */
  HEALTH_PORT: port.default(0),
  LOG_LEVEL: z.enum(logLevels).default('info'),
});
export type ProjectorConfig = z.output<typeof projectorConfigSchema>;
