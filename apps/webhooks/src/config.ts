import { logLevels, portNumber } from '@counterfoil/engine';
import { isSecretKey, secretKeyRule } from '@counterfoil/modules';
import {
  type WorkerConfig,
  workerConfig,
  workerDefaults,
  workerVariables,
} from '@counterfoil/webhooks/worker';
import { z } from 'zod';

/** Everything that the program is started with. */
export interface WebhooksConfig extends WorkerConfig {
  readonly natsUrl: string;
  readonly eventStoreUrl: string;
  /** COUNTERFOIL_SECRET_KEY, from which the key of sealed texts is derived. */
  readonly secretKey: string;
  /** Address where /healthz, /readyz and /metrics answer. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly healthPort: number;
}

/** Everything that has a default. */
export const webhooksDefaults = { ...workerDefaults, host: '127.0.0.1', healthPort: 0 } as const;

/** Environment variables of the program. */
export const webhooksEnvironment = z.object({
  DATABASE_URL: z.string().min(1),
  /** Receives the events that the worker causes: an endpoint disabled, a message given up. */
  EVENTSTORE_URL: z.string().min(1),
  NATS_URL: z.string().min(1),
  /** The same as the API's, which seals the secrets of endpoints. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule),
  ...workerVariables,
  HOST: z.string().default(webhooksDefaults.host),
  /** Port of /healthz, /readyz and /metrics; 0 takes a free one. */
  HEALTH_PORT: portNumber.default(webhooksDefaults.healthPort),
  LOG_LEVEL: z.enum(logLevels).default('info'),
});

/** The configuration that the environment variables make. */
export const webhooksConfig = (
  environment: z.output<typeof webhooksEnvironment>,
): WebhooksConfig => ({
  ...workerConfig(environment, environment.DATABASE_URL),
  natsUrl: environment.NATS_URL,
  eventStoreUrl: environment.EVENTSTORE_URL,
  secretKey: environment.COUNTERFOIL_SECRET_KEY,
  host: environment.HOST,
  healthPort: environment.HEALTH_PORT,
});
