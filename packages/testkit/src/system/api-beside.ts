import { type Api, type ApiConfig, type ApiOptions, startApi } from '@counterfoil/api';
import type { SharedStack } from '../stack.ts';

/** Another API process on the servers of a stack, with settings of its own. */
export async function apiBeside(
  stack: SharedStack,
  settings: Partial<ApiConfig>,
  options: ApiOptions = {},
): Promise<Api & { readonly baseUrl: string }> {
  const config: ApiConfig = {
    EVENTSTORE_URL: stack.eventStoreUrl,
    DATABASE_URL: stack.databaseUrl,
    COUNTERFOIL_SECRET_KEY: stack.secretKey,
    HOST: '127.0.0.1',
    PORT: 0,
    OPERATOR_HOST: '127.0.0.1',
    OPERATOR_PORT: 0,
    LOG_LEVEL: 'silent',
    CLOCK_SKEW_SECONDS: 5,
    RATE_LIMIT_PER_SECOND: 1_000_000,
    UNKNOWN_NAMES: 'refuse',
    CORS_ORIGINS: [],
    WEBHOOK_ALLOW_HTTP: true,
    WEBHOOK_ALLOWED_CIDRS: ['127.0.0.0/8'],
    WEBHOOK_DENIED_CIDRS: [],
    PAYMENT_PROVIDER: 'stripe',
    STRIPE_API_URL: stack.stripe.url,
    ...settings,
  };
  const api = await startApi(config, options);
  return { ...api, baseUrl: `http://127.0.0.1:${api.port}` };
}
