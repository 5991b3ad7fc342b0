import { type Demo, demoKeyOf, OperatorError } from '@counterfoil/cli/settings';
import { request } from 'undici';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** Calls the installation under test as `answered` does; returns the body of the answer alone. */
export async function api<Body>(
  demo: Demo,
  method: Method,
  path: string,
  body?: unknown,
  key?: string,
): Promise<Body> {
  return (await answered<Body>(demo, method, path, body, key)).body;
}

/**
 * Calls the installation under test, by undici's bare `request`, which costs less processor time beside
 * what is measured than `fetch` does.
 *
 * @param key the idempotency key, if any
 * @returns the body of the answer, null for an empty one, and the position in the log of what was changed
 * @throws {OperatorError} when the answer is no success
 */
export async function answered<Body>(
  demo: Demo,
  method: Method,
  path: string,
  body?: unknown,
  key?: string,
): Promise<{ readonly body: Body; readonly position: bigint }> {
  const answer = await request(`${demo.base_url}/v1${path}`, {
    method,
    headers: {
      'x-api-key': demoKeyOf(demo),
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.body.text();
  const position = BigInt(String(answer.headers['counterfoil-position'] ?? 0));
  if (answer.statusCode < 300) return { body: text === '' ? null : JSON.parse(text), position };
  throw new OperatorError(`${method} ${path} was answered ${answer.statusCode}: ${text}`);
}

/** Makes a customer with a wallet that has so many credits; returns the wallet's id. */
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

const clients = 32;

/**
 * Makes many such wallets, each of a customer of its own. The processes of the api take turns, so that none of them
 * compiles its code and meets its first records only when it is measured.
 */
export async function makeWallets(
  demo: Demo,
  count: number,
  credits: string,
  apiUrls: readonly string[] = [demo.base_url],
): Promise<string[]> {
  const wallets: string[] = [];
  await inParallel(clients, count, async (index) => {
    const one = { ...demo, base_url: apiUrls[index % apiUrls.length] ?? demo.base_url };
    wallets[index] = await makeWallet(one, `many-${index}`, credits);
  });
  return wallets;
}

/** Runs work for the numbers from 0 on, in order, by so many clients at once. */
export async function inParallel(
  clients: number,
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: clients }, client));
}
