import type { Sealer } from '@counterfoil/webhooks';
import type Stripe from 'stripe';
import type { ProviderContext } from '../payments/index.ts';
import { accountId, sealingContext, stripeAccount } from './account.ts';

/** The parts that the adapter needs from outside. */
export interface StripeOptions {
  readonly sealer: Sealer;
  /** The address of the API, where it is not Stripe's own. */
  readonly apiUrl?: string | undefined;
  /** The way of requests, where they are not to go over the network. */
  readonly fetch?: typeof fetch | undefined;
}

/** A request that is not answered by then has an unknown outcome. */
const timeoutMilliseconds = 10_000;

/** The package is read when the first request is made: an installation without Stripe does not pay for it. */
const load = () => import('stripe');

/** The client of an account. It repeats nothing by itself: what an outcome means is decided by those who know the log. */
export async function clientOf(
  key: string,
  { apiUrl, fetch: fetching }: Omit<StripeOptions, 'sealer'>,
): Promise<Stripe> {
  const { default: Client } = await load();
  const { hostname, port, protocol } = apiUrl ? new URL(apiUrl) : ownAddress;
  return new Client(key, {
    ...(apiUrl || fetching
      ? { host: hostname, protocol: protocol === 'http:' ? 'http' : 'https' }
      : {}),
    ...(port ? { port } : {}),
    ...(fetching ? { httpClient: Client.createFetchHttpClient(fetching) } : {}),
    timeout: timeoutMilliseconds,
    maxNetworkRetries: 0,
    telemetry: false,
    appInfo: { name: 'Counterfoil' },
  });
}

const ownAddress = new URL('https://api.stripe.com');

/** The credentials of an environment, opened; null where it has none. */
export async function credentialsOf(
  context: Pick<ProviderContext, 'load' | 'principal'>,
  { sealer }: Pick<StripeOptions, 'sealer'>,
): Promise<{ readonly key: string; readonly webhookSecret: string | null } | null> {
  const credentials = (await context.load(stripeAccount, accountId))?.credentials;
  if (!credentials) return null;
  const { environmentId } = context.principal;
  const open = (what: 'secret_key' | 'webhook_secret') => {
    const sealed = credentials[what];
    return sealed && sealer.open(sealed, sealingContext(environmentId, what));
  };
  return { key: open('secret_key') ?? '', webhookSecret: open('webhook_secret') };
}
