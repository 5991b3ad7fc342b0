import type { Command } from 'commander';
import { type ApiPlace, bodyOf, callApi } from './http-api.ts';
import { demoKeyOf, OperatorError, readDemo, readSettings } from './settings.ts';

/** The options that name an installation and a key of it. */
export interface PlaceOptions {
  readonly url?: string;
  readonly key?: string;
}

/** Adds `--url` and `--key` to a command. */
export const withPlace = (command: Command): Command =>
  command
    .option('--url <url>', 'of the API; by default that of the running local installation')
    .option('--key <key>', 'API key of the environment; by default that of the demo tenant');

/** The installation that the options name, else the one that `counterfoil up` has left in the data folder. */
export function placeOf({ url, key }: PlaceOptions): ApiPlace {
  if ((url === undefined) !== (key === undefined)) {
    throw new OperatorError('--url and --key belong together.');
  }
  if (url !== undefined && key !== undefined) return { baseUrl: url, apiKey: key };
  const demo = readDemo(readSettings().COUNTERFOIL_DATA);
  if (demo) return { baseUrl: demo.base_url, apiKey: demoKeyOf(demo) };
  throw new OperatorError('There is no running installation here: give --url and --key.');
}

/** Sends one request to the installation that options name; gives the body of a success. Throws `OperatorError`. */
export async function ask<Body>(
  place: PlaceOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  return bodyOf(await callApi(placeOf(place), method, path, { body })) as Body;
}
