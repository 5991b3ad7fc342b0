import { Content } from '@counterfoil/engine/define';
import type { Instant, TenantId } from '@counterfoil/kernel';
import { callRoute, memoryWorld, rejection, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coupons } from '../coupons/index.ts';
import { customers } from '../customers/index.ts';
import { invoices } from '../invoices/index.ts';
import { settings } from '../settings/index.ts';
import { subscriptions } from '../subscriptions/index.ts';
import { taxes } from '../taxes/index.ts';
import { createTenant, environment, tenant } from '../tenancy/index.ts';
import { wallets } from '../wallets/index.ts';
import { documentRoutes } from './routes.ts';
import { pagesOf, secret } from './test-document.ts';

const test = suite('routes of documents');

const slices = [customers, invoices, coupons, settings, subscriptions, taxes, wallets];
const routes = documentRoutes(secret);

/** A tenant with a customer who reads German, and the routes of the slices. */
async function world() {
  const memory = memoryWorld([
    tenant,
    environment,
    ...slices.flatMap(({ aggregates }) => aggregates),
  ]);
  const principal = testPrincipal();
  const request = () => memory.request(principal);
  const { tenantId } = principal;
  await request().execute(tenant, tenantId, createTenant(tenantId as TenantId, 'Foil GmbH'));
  const post = async (key: string, body: object, params: object = {}) => {
    const found = slices.map(({ routes: table }) => table[key as 'GET /']).find((each) => each);
    assert.ok(found, key);
    return (await callRoute(found, request(), { body, params })) as { readonly id: string };
  };
  const customer = await post('POST /customers', {
    name: 'Ada',
    external_id: 'ada',
    metadata: { language: 'de' },
  });
  return { memory, request, post, customerId: customer.id };
}

const contentOf = (answer: unknown): Content => {
  assert.instance(answer, Content);
  return answer as Content;
};

const textOf = (answer: unknown): string => Buffer.from(contentOf(answer).bytes).toString('utf8');

test('an invoice as PDF, as HTML and where it is', async () => {
  const { post, request, customerId } = await world();
  const lines = [{ display_name: 'Beratung', amount: '100', quantity: '2' }];
  const { id } = await post('POST /invoices', {
    customer_id: customerId,
    currency: 'eur',
    subtotal: '100',
    total: '100',
    amount_due: '100',
    line_items: lines,
  });
  const of = { params: { id } };
  const pdf = contentOf(await callRoute(routes['GET /invoices/{id}/pdf'], request(), of));
  assert.equal([pdf.mediaType, pdf.fileName], ['application/pdf', 'INV-202601-00001.pdf']);
  const [page] = pagesOf(pdf.bytes);
  assert.ok(page?.includes('Rechnung') && page.includes('Beratung') && page.includes('Foil GmbH'));
  const html = textOf(await callRoute(routes['GET /invoices/{id}/html'], request(), of));
  assert.match(html, /<html lang="de"/);
  const at = await callRoute(routes['GET /invoices/{id}/pdf'], request(), {
    ...of,
    query: { url: 'true' },
  });
  assert.equal(at, { presigned_url: `/v1/invoices/${id}/pdf` });
});

test('there is no document of an invoice that does not exist', async () => {
  const { request } = await world();
  const id = 'inv_01KGA0000000000000000000AA';
  for (const url of ['true', 'false']) {
    const asked = callRoute(routes['GET /invoices/{id}/pdf'], request(), {
      params: { id },
      query: { url },
    });
    assert.is((await rejection(asked)).code, 'not_found');
  }
  const page = callRoute(routes['GET /invoices/{id}/html'], request(), { params: { id } });
  assert.is((await rejection(page)).code, 'not_found');
});

test('a statement as JSON, HTML and PDF has the same figures', async () => {
  const { memory, post, request, customerId } = await world();
  const { id } = await post('POST /wallets', {
    customer_id: customerId,
    currency: 'eur',
    initial_credits_to_load: '1000.5',
  });
  memory.now = '2026-01-02T00:00:00.000Z' as Instant;
  await post('POST /wallets/{id}/debit', { credits: '0.25', description: '<b>' }, { id });
  const get = (format: string) =>
    callRoute(routes['GET /wallets/{id}/statement'], request(), {
      params: { id },
      query: { format },
    });
  const json = (await get('json')) as { readonly closing_balance: string };
  assert.is(json.closing_balance, '1000.25');
  const html = textOf(await get('html'));
  assert.ok(html.includes('1.000,25') && html.includes('-0,25') && html.includes('&lt;b&gt;'));
  const [page] = pagesOf(contentOf(await get('pdf')).bytes);
  assert.ok(page?.includes('1.000,25') && page.includes('-0,25'));
});

test.run();
