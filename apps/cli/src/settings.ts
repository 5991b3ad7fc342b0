import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { clockSkewSeconds, portNumber, readConfig } from '@counterfoil/engine/config';
import type { EnvironmentId } from '@counterfoil/kernel';
import { z } from 'zod';

const optionalUrl = z.string().min(1).optional();

/** Environment variables of the command line. */
export const settingsSchema = z.object({
  COUNTERFOIL_DATA: z.string().min(1).default('.counterfoil'),
  EVENTSTORE_URL: optionalUrl,
  DATABASE_URL: optionalUrl,
  NATS_URL: optionalUrl,
  EVENT_GATEWAY_URL: optionalUrl,
  OPERATOR_URL: optionalUrl,
  OPERATOR_KEY: z.string().min(1).optional(),
  COUNTERFOIL_SECRET_KEY: z.string().min(1).optional(),
  PORT: portNumber.default(4000),
  HOST: z.string().default('127.0.0.1'),
  CLOCK_SKEW_SECONDS: clockSkewSeconds,
});
export type Settings = z.output<typeof settingsSchema>;

/** The settings from the environment; ends the process with one message when they are wrong. */
export const readSettings = (): Settings => readConfig(settingsSchema);

/** The description that `counterfoil up` leaves of the installation that it started. */
const demoSchema = z.object({
  base_url: z.string(),
  /** Null when the demo key has been revoked. */
  api_key: z.string().nullable(),
  tenant_id: z.string(),
  environment_id: z.string(),
  user_id: z.string(),
  operator_url: z.string(),
  operator_key: z.string(),
  nats_url: z.string(),
  database_url: z.string(),
  eventstore_url: z.string(),
  pid: z.number().int(),
});
export type Demo = z.output<typeof demoSchema>;

export const demoFile = (folder: string): string => join(resolve(folder), 'demo.json');
export const secretFile = (folder: string): string => join(resolve(folder), 'secret.key');

/** The description of the running installation in the data folder; null when there is none. */
export function readDemo(folder: string): Demo | null {
  const file = demoFile(folder);
  return existsSync(file) ? demoSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
}

/** The command that makes a key in the place of the demo key. */
export const newDemoKey = ({ tenant_id, environment_id, user_id }: Demo): string =>
  `npm run --silent counterfoil -- keys create --tenant ${tenant_id} ` +
  `--environment ${environment_id} --user ${user_id} --name demo`;

/** The demo key. Throws `OperatorError` when it has been revoked. */
export function demoKeyOf(demo: Demo): string {
  if (demo.api_key !== null) return demo.api_key;
  throw new OperatorError(`The demo key was revoked. Make another one: ${newDemoKey(demo)}`);
}

/** The addresses of the three servers, for commands that work on an installation. */
export interface ServerUrls {
  readonly eventStoreUrl: string;
  readonly databaseUrl: string;
  readonly natsUrl: string;
}

/** An error that is for the operator: shown as one message, without a stack. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/**
 * The servers to work on: those of the environment, else those that `counterfoil up` left in the data
 * folder. Throws `OperatorError` when neither names them.
 */
export function serverUrls(settings: Settings): ServerUrls {
  const demo = readDemo(settings.COUNTERFOIL_DATA);
  const eventStoreUrl = settings.EVENTSTORE_URL ?? demo?.eventstore_url;
  const databaseUrl = settings.DATABASE_URL ?? demo?.database_url;
  const natsUrl = settings.NATS_URL ?? demo?.nats_url;
  if (eventStoreUrl && databaseUrl && natsUrl) return { eventStoreUrl, databaseUrl, natsUrl };
  throw new OperatorError(
    `There is no running installation in ${settings.COUNTERFOIL_DATA}. ` +
      'Start one with npm start, or set EVENTSTORE_URL, DATABASE_URL and NATS_URL.',
  );
}

/**
 * The secret key of the installation: from the environment, else from the data folder.
 * Throws `OperatorError` when there is none.
 */
export function secretKeyOf(settings: Settings): string {
  if (settings.COUNTERFOIL_SECRET_KEY) return settings.COUNTERFOIL_SECRET_KEY;
  const file = secretFile(settings.COUNTERFOIL_DATA);
  if (existsSync(file)) return readFileSync(file, 'utf8').trim();
  throw new OperatorError(`Set COUNTERFOIL_SECRET_KEY; there is no key in ${file}.`);
}

/** The environment of the demo tenant. Throws `OperatorError` when there is none. */
export function environmentOf(settings: Settings): EnvironmentId {
  const demo = readDemo(settings.COUNTERFOIL_DATA);
  if (demo) return demo.environment_id as EnvironmentId;
  throw new OperatorError('Name the environment: --environment env_…');
}
