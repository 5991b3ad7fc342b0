import type { Demo } from '../settings.ts';
import { OperatorError } from '../settings.ts';

/** Calls the installation under test; throws when it does not answer with a success. */
export async function api<Body>(
  { base_url, api_key }: Demo,
  method: string,
  path: string,
  body?: unknown,
): Promise<Body> {
  const answer = await fetch(`${base_url}/v1${path}`, {
    method,
    headers: { 'x-api-key': api_key, 'content-type': 'application/json' },
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
