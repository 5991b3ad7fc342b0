import { logLevels } from '@counterfoil/engine';
import { isSecretKey, secretKeyRule } from '@counterfoil/modules';
import { isCidr } from '@counterfoil/webhooks';
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
const ranges = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.string().refine(isCidr, 'must be an address range such as 10.0.0.0/8')).max(100));

/** Environment variables of the API. */
export const apiConfigSchema = z.object({
  EVENTSTORE_URL: z.string().min(1),
  DATABASE_URL: z.string().min(1),
  /** For the feed of public events; only the feed needs it. */
  NATS_URL: z.string().min(1).optional(),
  /** For credentials of downstream systems; only they need it. */
  EVENT_GATEWAY_URL: z.string().min(1).optional(),
  /** The address at which downstream systems reach the gateway, when it is another. */
  EVENT_GATEWAY_PUBLIC_URL: z.string().min(1).optional(),
  /** 32 bytes, hexadecimal or base64, from which API keys and sealed secrets are made. */
  COUNTERFOIL_SECRET_KEY: z.string().refine(isSecretKey, secretKeyRule),
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(4000),
  /** The key of the operator API; without it there is none. */
  OPERATOR_KEY: z.string().min(32, 'must have at least 32 characters').max(512).optional(),
  OPERATOR_HOST: z.string().default('127.0.0.1'),
  OPERATOR_PORT: port.default(4010),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  /** Folder for snapshots of long streams; without it they are folded from their first event. */
  SNAPSHOT_FOLDER: z.string().min(1).optional(),
  /** Requests per second that one API key may make of this process. */
  RATE_LIMIT_PER_SECOND: z.coerce.number().int().min(1).max(1_000_000).default(2_000),
  /** True when webhook endpoints may be http:// instead of https://. */
  WEBHOOK_ALLOW_HTTP: flag.default(false),
  /** Address ranges that webhooks may go to although they are not public. */
  WEBHOOK_ALLOWED_CIDRS: ranges.default([]),
  /** Address ranges that webhooks may not go to although they are public. */
  WEBHOOK_DENIED_CIDRS: ranges.default([]),
});
export type ApiConfig = z.output<typeof apiConfigSchema>;
