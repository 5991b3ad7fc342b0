import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { Content, contentRoute, type Routes } from '../define/route.ts';
import { type Machine, startMachine, thingRoutes } from './test-machine.ts';

const test = suite<{ machine: Machine }>('answers that are no JSON, and open questions');

const page = 'text/html; charset=utf-8';
const common = {
  tag: 'papers',
  summary: 'A paper',
  permission: 'paper:read',
  status: 200,
} as const;
const large = `<p>${'x'.repeat(9_000)}</p>`;

const routes: Routes = {
  ...thingRoutes,
  'GET /papers/{id}/pdf': contentRoute({
    ...common,
    params: z.object({ id: z.string() }),
    query: z.object({ url: z.string().optional() }),
    response: z.object({ at: z.string() }),
    contents: ['application/pdf'],
    handle: async (_context, { params: { id }, query: { url } }) =>
      url ? { at: url } : new Content('application/pdf', Buffer.alloc(9_000, 1), `${id}.pdf`),
  }),
  'GET /papers/html': contentRoute({
    ...common,
    contents: [page],
    handle: async () => new Content(page, Buffer.from(large), 'a.html'),
  }),
  'GET /papers/other': contentRoute({
    ...common,
    contents: ['application/pdf'],
    handle: async () => new Content(page, Buffer.from(large), 'a.html'),
  }),
};

const openQuestions = {
  '/questions/sum': ({ of }: Readonly<Record<string, string>>) => {
    if (of === undefined) throw new Problem('validation_error', 'of: is required');
    return { of };
  },
} as const;

test.before(async (context) => {
  context.machine = await startMachine(routes, { openQuestions });
});
test.after(({ machine }) => machine.server.close(100));

test('bytes come as they are, with their type and a plain name', async ({ machine }) => {
  const path = '/v1/papers/a%22;%0d%0aSet-Cookie:x/pdf';
  const { status, headers, text } = await machine.request('GET', path);
  assert.is(status, 200);
  assert.is(headers.get('content-type'), 'application/pdf');
  assert.is(headers.get('content-disposition'), 'inline; filename="a_Set-Cookie_x.pdf"');
  assert.is(headers.get('content-encoding'), null);
  assert.is(headers.get('cache-control'), 'private, no-cache');
  assert.is(text.length, 9_000);
  const head = await machine.request('HEAD', path);
  assert.equal([head.status, head.text], [200, '']);
  assert.is(head.headers.get('content-length'), '9000');
});

test('they have an ETag like every body', async ({ machine }) => {
  const first = await machine.request('GET', '/v1/papers/a/pdf');
  const headers = { 'If-None-Match': first.headers.get('etag') ?? '' };
  assert.is((await machine.request('GET', '/v1/papers/a/pdf', { headers })).status, 304);
});

test('the same route may answer JSON', async ({ machine }) => {
  const { headers, json } = await machine.request('GET', '/v1/papers/a/pdf?url=here');
  assert.is(headers.get('content-type'), 'application/json');
  assert.equal(json(), { at: 'here' });
});

test('a page may have styles and nothing else, and is compressed', async ({ machine }) => {
  const { headers, text } = await machine.request('GET', '/v1/papers/html');
  assert.is(headers.get('content-type'), page);
  assert.is(
    headers.get('content-security-policy'),
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  );
  assert.ok(headers.get('content-encoding'));
  assert.is(text, large);
});

test('they need the right that their route names', async ({ machine }) => {
  assert.is((await machine.request('GET', '/v1/papers/html', { key: null })).status, 401);
});

test('a type that the route does not name is a fault of the service', async ({ machine }) => {
  assert.is((await machine.request('GET', '/v1/papers/other')).status, 500);
});

test('the document of the API names the types', async ({ machine }) => {
  const { json } = await machine.request('GET', '/openapi.json', { key: null });
  const { paths } = json<{
    paths: Record<string, { get: { responses: Record<string, never> } }>;
  }>();
  const { content } = paths['/v1/papers/{id}/pdf']?.get.responses['200'] ?? { content: {} };
  assert.equal(Object.keys(content), ['application/json', 'application/pdf']);
});

test('an open question needs no key, and answers in the one shape', async ({ machine }) => {
  const asked = (path: string) => machine.request('GET', path, { key: null });
  assert.equal((await asked('/questions/sum?of=1%202')).json(), { of: '1 2' });
  const refused = await asked('/questions/sum');
  assert.equal([refused.status, refused.problem().code], [400, 'validation_error']);
  assert.is((await machine.request('POST', '/questions/sum', { key: null })).status, 405);
});

test.run();
