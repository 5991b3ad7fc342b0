import { type ApiConfig, apiConfigSchema } from '@counterfoil/api/config';
import { type ExporterConfig, exporterConfigSchema } from '@counterfoil/exporter/config';
import { type ProjectorConfig, projectorConfigSchema } from '@counterfoil/projector/config';
import { webhooksEnvironment } from '@counterfoil/webhook-worker/config';
import type { z } from 'zod';
import { type Settings, settingsSchema } from '../settings.ts';

/** The programs that read environment variables, with the schemas that they read them by. */
export const programs: readonly { readonly name: string; readonly schema: z.ZodObject }[] = [
  { name: 'api', schema: apiConfigSchema },
  { name: 'projector', schema: projectorConfigSchema },
  { name: 'webhooks', schema: webhooksEnvironment },
  { name: 'exporter', schema: exporterConfigSchema },
  { name: 'counterfoil', schema: settingsSchema },
];

/** The variables of all programs: each needs its meaning below. */
type VariableName =
  | keyof ApiConfig
  | keyof ProjectorConfig
  | keyof ExporterConfig
  | keyof z.output<typeof webhooksEnvironment>
  | keyof Settings;

/** The meanings of the variables, in Markdown. */
export const meanings: Readonly<Record<VariableName, string>> = {
  EVENTSTORE_URL:
    'Connection string of the event store, such as `esdb://127.0.0.1:2113?tls=false`. ' +
    '`counterfoil up` starts a local one when it is not set.',
  DATABASE_URL:
    'Connection string of PostgreSQL, such as `postgres://user:password@host:5432/database`. ' +
    '`counterfoil up` starts a local one when it is not set.',
  NATS_URL:
    'Address of NATS with JetStream, such as `nats://127.0.0.1:4222`; several are separated by ' +
    'commas. `counterfoil up` starts a local one when it is not set.',
  EVENT_STREAM_BYTES:
    'Bytes that the stream of public events takes on disk; the oldest events go when they are used up. ' +
    'Without it a new stream has 1 GiB, and an existing one keeps its size.',
  EVENT_STREAM_DAYS:
    'Days that public events are kept. Without it a new stream keeps them for 90 days, and an existing one ' +
    'as long as before.',
  EVENT_GATEWAY_URL:
    'Address of the event gateway, the server that downstream systems connect to with credentials from the ' +
    'API. Without it none are issued. `counterfoil up` starts one beside a local NATS.',
  EVENT_GATEWAY_PUBLIC_URL:
    'Addresses of the event gateway as downstream systems know them, separated by commas; ' +
    '`EVENT_GATEWAY_URL` when it is not set.',
  PAYMENT_PROVIDER:
    '`stripe` lets environments take money by cards, bank accounts and payment pages, with credentials that each of them sets by ' +
    '`PUT /payments/providers/stripe`. The api and the projector need the same.',
  STRIPE_API_URL:
    'Address of the API of Stripe, where it is not its own, such as that of a test server.',
  COUNTERFOIL_SECRET_KEY:
    '32 bytes, as 64 hexadecimal digits or in base64. API keys, the encryption of webhook ' +
    'secrets, the key that signs checkpoints and all keys of the event gateway are derived from it, so all programs of an installation need the same. ' +
    '`counterfoil up` makes one and keeps it in `secret.key` in the data folder.',
  COUNTERFOIL_DATA:
    'Folder for the data of the local servers and for what `counterfoil up` leaves for the other ' +
    'commands: `demo.json` and `secret.key`.',
  HOST: 'Address that HTTP is served on.',
  PORT: 'Port of the HTTP API; 0 takes a free one.',
  OPERATOR_KEY:
    'At least 32 characters, the key of the operator API, which makes tenants, environments, users and ' +
    'keys; without it there is no operator API. The command line presents it too. `counterfoil up` has one ' +
    'by itself.',
  OPERATOR_URL:
    'Address of the operator API, such as `http://127.0.0.1:4010`, for the command line; that of the ' +
    'running local installation when it is not set.',
  OPERATOR_HOST: 'Address that the operator API is served on. Keep it inside your network.',
  OPERATOR_PORT:
    'Port of the operator API; 0 takes a free one, as `counterfoil up` does unless it is set.',
  HEALTH_PORT:
    'Port of `/healthz`, `/readyz` and `/metrics`; 0 takes a free one, which the line ' +
    '`{"event":"ready",…}` names. `counterfoil up` always uses 0.',
  LOG_LEVEL: 'Least severity of the lines that are logged.',
  CLOCK_SKEW_SECONDS:
    "Seconds by which the clock of a process may differ from the event store's. Beyond it nothing is " +
    'written; see [clocks](../operating/clocks.md).',
  CHECKPOINT_INTERVAL_SECONDS:
    'Seconds between two signed checkpoints of the ledger. There is none when nothing happened, or ' +
    'when the projector has no `COUNTERFOIL_SECRET_KEY`.',
  SNAPSHOT_FOLDER:
    'Folder on this machine for snapshots of long streams, so that a wallet with a long history is ' +
    'answered at once after a start. Any number of programs may share it. It is a cache: it may be deleted, and without it such a stream is ' +
    'folded from its first event. `counterfoil up` uses one in the data folder.',
  VERIFICATION_INTERVAL_SECONDS:
    'Seconds from the end of a verification of the whole log in the background to the beginning of the next.',
  VERIFICATION_EVENTS_PER_SECOND:
    'Events that the verification in the background checks in a second, at most. It is at work a ' +
    'tenth of the time, whatever this says.',
  USAGE_RETENTION_MONTHS:
    'Whole months, beside the one that runs, of which usage is kept event by event. The projector drops older ones; what ' +
    'whole hours add up to stays. Without it all is kept. See [usage](../concepts/usage.md#when-events-are-dropped).',
  RATE_LIMIT_PER_SECOND: 'Requests per second that one API key may make of one process.',
  CORS_ORIGINS:
    'Origins whose pages may call the API from a browser, separated by commas; `*` is all. None by default.',
  TENANT_REFUSALS_PER_HOUR:
    'Refusals of a tenant that one process remembers under idempotency keys in an hour; 100,000 when it is not ' +
    'set. Above it, requests with such keys are 429.',
  TENANT_PUBLIC_BYTES_PER_HOUR:
    'Bytes of public events that a tenant may cause in an hour; 16 GiB when it is not set. Above it, its ' +
    'writes are 429. All tenants share the stream, so choose it with `EVENT_STREAM_BYTES`.',
  TENANT_ENVIRONMENTS: 'Environments that a tenant may have; 100 when it is not set.',
  TENANT_USERS: 'Users that a tenant may have; 1,000 when it is not set.',
  ENVIRONMENT_API_KEYS: 'API keys that an environment may have; 1,000 when it is not set.',
  ENVIRONMENT_WEBHOOK_ENDPOINTS:
    'Webhook endpoints that an environment may have; 200 when it is not set.',
  ENVIRONMENT_EVENT_SUBSCRIPTIONS:
    'Event subscriptions that an environment may have; 200 when it is not set.',
  UNKNOWN_NAMES:
    'Whether the API refuses query parameters and members of bodies that nobody knows (`refuse`), or ' +
    'ignores them and lists them in `Counterfoil-Ignored` (`ignore`), as `Prefer: handling=lenient` does for one request.',
  WEBHOOK_ALLOW_HTTP:
    'Whether webhook endpoints may be `http://`. `counterfoil up` sets it to `true`, unless it is ' +
    'set already.',
  WEBHOOK_ALLOWED_CIDRS:
    'Address ranges that webhooks may go to although they are not public, separated by commas. ' +
    '`counterfoil up` sets it to `127.0.0.0/8,::1/128`, unless it is set already.',
  WEBHOOK_DENIED_CIDRS:
    'Address ranges that webhooks may not go to although they are public, separated by commas.',
  EXPORT_FOLDER:
    'Folder of the exports to connections of local folders: below it one for each tenant, environment and bucket. ' +
    'Without it such exports fail. The api tries connections to folders in it, where it has the same one.',
  WEBHOOK_RETRY_LADDER_MS:
    'Milliseconds to wait after the first, second, … failed attempt, separated by commas. After ' +
    'the last one follows one more attempt, and then the delivery is given up.',
  WEBHOOK_SLOW_DOWN_MS:
    'Least wait in milliseconds after 429, 502, 503, 504 and after an attempt without an answer ' +
    'in time.',
  WEBHOOK_MAX_IN_FLIGHT: 'Requests to webhook endpoints that one process has under way at once.',
  WEBHOOK_LEASE_MS:
    'Milliseconds after which another worker sends what a killed one had in hand. Below 20 s ' +
    'attempts may take three quarters of it instead of 15 s.',
  WEBHOOK_ATTEMPT_DAYS: 'Days that attempts are kept.',
  WEBHOOK_MESSAGE_DAYS:
    'Days that messages are kept. What has not been delivered by then is given up and reported.',
};

/** Variables that are read before any program of ours runs, or by Docker Compose alone. */
export const otherVariables: readonly {
  readonly name: string;
  readonly readBy: string;
  readonly standard: string | null;
  readonly meaning: string;
}[] = [
  {
    name: 'NATS_SERVER_BIN',
    readBy: '`npm start`, `npm test`',
    standard: null,
    meaning: 'Program to run instead of the nats-server that is found or fetched.',
  },
  {
    name: 'POSTGRES_PASSWORD',
    readBy: 'Docker Compose (required)',
    standard: null,
    meaning: 'Password of the roles `postgres` and `counterfoil`.',
  },
  {
    name: 'EVENTSTORE_PORT',
    readBy: 'Docker Compose',
    standard: '2113',
    meaning: 'Port on 127.0.0.1 under which the event store is published.',
  },
  {
    name: 'POSTGRES_PORT',
    readBy: 'Docker Compose',
    standard: '5432',
    meaning: 'Port on 127.0.0.1 under which PostgreSQL is published.',
  },
  {
    name: 'NATS_PORT',
    readBy: 'Docker Compose',
    standard: '4222',
    meaning: 'Port on 127.0.0.1 under which NATS is published.',
  },
];
