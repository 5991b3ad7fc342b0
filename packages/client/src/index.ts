import type { ApiRoutes } from '@counterfoil/modules';
import { type ClientOptions, createClient } from './client.ts';
import type { Client } from './types.ts';

export { type ClientOptions, CounterfoilError, createClient } from './client.ts';
export type { Answer, CallOptions, Client, RequestOf, ResponseOf } from './types.ts';

/** The client of the Counterfoil API. */
export const counterfoil = (options: ClientOptions): Client<ApiRoutes> =>
  createClient<ApiRoutes>(options);
