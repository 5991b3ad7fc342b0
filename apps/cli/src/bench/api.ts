import type { Demo } from '../settings.ts';
import { OperatorError } from '../settings.ts';

/**
 * Calls the installation under test; throws when it does not answer with a success.
 *
 * @param key the idempotency key, if any
 */
export async function api<Body>(
  { base_url, api_key }: Demo,
  method: string,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Body> {
  const answer = await fetch(`${base_url}/v1${path}`, {
    method,
    headers: {
      'x-api-key': api_key,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new OperatorError(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text) as Body;
}

/** Makes a customer with a wallet that has so many credits; the wallet's id. */
export async function makeWallet(demo: Demo, name: string, credits: string): Promise<string> {
  const customer = await api<{ id: string }>(demo, 'POST', '/customers', {
    external_id: name,
    name,
  });
  const wallet = await api<{ id: string }>(demo, 'POST', '/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: credits,
  });
  return wallet.id;
}

const walletsAtOnce = 32;

/** Makes many such wallets, each of a customer of its own. */
export async function makeWallets(demo: Demo, count: number, credits: string): Promise<string[]> {
  const wallets: string[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < count) {
      const place = next;
      next += 1;
      wallets[place] = await makeWallet(demo, `many-${place}`, credits);
    }
  };
  await Promise.all(Array.from({ length: walletsAtOnce }, client));
  return wallets;
}
