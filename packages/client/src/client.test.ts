import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CounterfoilError, counterfoil } from './index.ts';

const test = suite('client');

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** A client whose requests go nowhere: they are kept, and get one answer. */
function recorded(answer: () => Response, baseUrl = 'http://service') {
  const sent: Sent[] = [];
  const send = async (url: unknown, init: RequestInit = {}) => {
    const { method, headers, body } = init;
    sent.push({
      url: String(url),
      method,
      headers: headers as Record<string, string>,
      body: body as string | undefined,
    });
    return answer();
  };
  const options = { baseUrl, apiKey: 'sk_1', fetch: send as typeof fetch };
  return { sent, call: counterfoil(options) };
}

test('fills the path, the query, the headers and the body', async () => {
  const headers = { etag: '"7-3qW8x2Lk_0aZr7Qe"', 'counterfoil-position': '4711' };
  const { sent, call } = recorded(() => new Response('{"id":"x"}', { headers }));
  const answer = await call('POST /wallets/{id}/debit', {
    params: { id: 'wallet/1' },
    body: { credits: '5' },
    idempotencyKey: 'k',
  });
  assert.equal(sent[0], {
    url: 'http://service/v1/wallets/wallet%2F1/debit',
    method: 'POST',
    headers: { 'x-api-key': 'sk_1', 'content-type': 'application/json', 'idempotency-key': 'k' },
    body: '{"credits":"5"}',
  });
  assert.is(answer.revision, 7);
  assert.is(answer.position, '4711');
  await call('GET /wallets/{id}/transactions', { params: { id: 'w' }, query: { limit: 5 } });
  assert.is(sent[1]?.url, 'http://service/v1/wallets/w/transactions?limit=5');
});

test('takes the address as people have it at hand, and sends nothing for null', async () => {
  for (const end of ['', '/', '/v1', '/v1/']) {
    const { sent, call } = recorded(() => new Response('{}'), `http://service/billing${end}`);
    const query = { limit: 5, customer_id: null as unknown as string };
    await call('GET /wallets', { query });
    assert.is(sent[0]?.url, 'http://service/billing/v1/wallets?limit=5');
  }
});

test('an error body becomes an error that carries it', async () => {
  const { call } = recorded(() =>
    Response.json({ code: 'not_found', message: 'None.' }, { status: 404 }),
  );
  try {
    await call('GET /wallets/{id}', { params: { id: 'w' } });
    assert.unreachable();
  } catch (error) {
    assert.instance(error, CounterfoilError);
    assert.is((error as CounterfoilError).code, 'not_found');
    assert.is((error as CounterfoilError).message, 'None.');
  }
});

test('a refusal carries its reason and the figures that were in the way', async () => {
  const details = { reason: 'insufficient_credits', available: '1', requested: '2' };
  const { call } = recorded(() =>
    Response.json({ code: 'invalid_operation', message: 'No.', details }, { status: 400 }),
  );
  try {
    await call('POST /wallets/{id}/debit', { params: { id: 'w' }, body: { credits: '2' } });
    assert.unreachable();
  } catch (error) {
    assert.is((error as CounterfoilError).reason, 'insufficient_credits');
    assert.equal((error as CounterfoilError).details, details);
  }
});

test('an answer that is not JSON is shown as text', async () => {
  const { call } = recorded(() => new Response('<html>', { status: 502 }));
  try {
    await call('GET /users/me');
    assert.unreachable();
  } catch (error) {
    assert.is((error as CounterfoilError).message, '<html>');
  }
});

test('a document comes as its bytes', async () => {
  const headers = { 'content-type': 'application/pdf' };
  const { call } = recorded(() => new Response(new Uint8Array([37, 80, 255]), { headers }));
  const { body } = await call('GET /invoices/{id}/pdf', { params: { id: 'inv_1' } });
  assert.equal(body, new Uint8Array([37, 80, 255]));
});

/** Never called: each line must be refused by the compiler. */
export const mistakes = (call: ReturnType<typeof counterfoil>): void => {
  // @ts-expect-error there is no such route
  void call('GET /nothing');
  // @ts-expect-error the path needs its id
  void call('GET /wallets/{id}');
  // @ts-expect-error the currency is missing
  void call('POST /wallets', { body: { customer_id: 'cust_1' } });
  // @ts-expect-error a wallet has no such field
  void call('GET /wallets/{id}', { params: { id: 'w' } }).then(({ body }) => body.nothing);
};

test.run();
