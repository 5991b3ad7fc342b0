import { problemCodes } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Machine, startMachine } from './test-machine.ts';

const test = suite<{ machine: Machine }>('documentation pages');

test.before(async (context) => {
  context.machine = await startMachine();
});
test.after(({ machine }) => machine.server.close(100));

const get = (machine: Machine, path: string) => machine.request('GET', path, { key: null });

/** Everything that a page makes the browser load. */
const loaded = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target ?? '');

test('/docs loads only what this server serves', async ({ machine }) => {
  const page = await get(machine, '/docs');
  assert.is(page.status, 200);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const targets = loaded(page.text);
  assert.ok(targets.length >= 4);
  for (const target of targets) {
    assert.match(target, /^\/docs\/assets\//);
    const asset = await get(machine, target);
    assert.is(asset.status, 200, target);
    assert.ok(asset.text.length > 100, target);
    assert.is(asset.headers.get('x-content-type-options'), 'nosniff');
  }
  assert.not.match(page.text, /https?:/);
});

test('/docs starts from our document and sends it to no validator', async ({ machine }) => {
  const script = await get(machine, '/docs/assets/start.js');
  assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/);
  assert.match(script.text, /url: '\/openapi\.json'/);
  assert.match(script.text, /validatorUrl: null/);
  assert.not.match(script.text, /https?:/);
});

test('the pages may load nothing from elsewhere', async ({ machine }) => {
  for (const path of ['/docs', '/docs/', '/docs/problems']) {
    const policy = (await get(machine, path)).headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.match(policy, /connect-src 'self'/);
    assert.not.match(policy, /https?:/);
  }
});

test('/docs/problems has a row for every code', async ({ machine }) => {
  const page = await get(machine, '/docs/problems');
  for (const [code, { status }] of Object.entries(problemCodes)) {
    assert.match(page.text, new RegExp(`<tr id="${code}">.*<td>${status}</td>`));
  }
});

test('/openapi.json is the document', async ({ machine }) => {
  const document = await get(machine, '/openapi.json');
  assert.is(document.headers.get('content-type'), 'application/json');
  const { openapi, paths } = document.json() as Record<'openapi' | 'paths', object>;
  assert.is(openapi, '3.1.0');
  assert.ok(Object.keys(paths).length > 0);
});

test('a document that is written elsewhere is asked for once, and again where that failed', async () => {
  const asked: string[] = [];
  const machine = await startMachine(undefined, {
    writeDocument: async (path) => {
      asked.push(path);
      if (asked.length === 1) throw new Error('it has ended');
      return '{"openapi":"3.1.0"}';
    },
  });
  try {
    assert.is((await get(machine, '/openapi.json')).status, 500);
    for (const _ of [1, 2]) {
      assert.equal((await get(machine, '/openapi.json')).json(), { openapi: '3.1.0' });
    }
    assert.equal(asked, ['/openapi.json', '/openapi.json']);
  } finally {
    await machine.server.close(100);
  }
});

test('serves the documents of its parts, without a key', async () => {
  const asyncapi = { asyncapi: '3.0.0' };
  const machine = await startMachine(undefined, {
    documents: { '/asyncapi.json': () => asyncapi },
  });
  try {
    const document = await get(machine, '/asyncapi.json');
    assert.is(document.headers.get('content-type'), 'application/json');
    assert.equal(document.json(), asyncapi);
  } finally {
    await machine.server.close(100);
  }
});

test('serves nothing else of the package', async ({ machine }) => {
  for (const file of ['package.json', 'index.html', 'swagger-ui.js', '../package.json']) {
    assert.is((await get(machine, `/docs/assets/${file}`)).status, 404, file);
  }
});

test.run();
