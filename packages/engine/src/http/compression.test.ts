import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Routes, route, withETag } from '../define/route.ts';
import { compressedFrom } from './compression.ts';
import { type Machine, startMachine, thingRoutes } from './test-machine.ts';

const test = suite<{ machine: Machine }>('compression of answers');

const answers = z.object({ text: z.string() });

/** Answers around the size from which they are compressed: `{"text":"…"}` has 11 characters more. */
const routes: Routes = {
  ...thingRoutes,
  'GET /texts/{length}': route({
    summary: 'A text',
    tag: 'texts',
    permission: null,
    status: 200,
    params: z.object({ length: z.string() }),
    response: answers,
    handle: async (_context, { params }) =>
      withETag({ text: 'x'.repeat(Number(params.length)) }, 5),
  }),
};

test.before(async (context) => {
  context.machine = await startMachine(routes);
});
test.after(({ machine }) => machine.server.close(100));

const large = `/v1/texts/${compressedFrom - 11}`;
const small = `/v1/texts/${compressedFrom - 12}`;

const get = ({ machine }: { machine: Machine }, path: string, coding: string, more = {}) =>
  machine.request('GET', path, { headers: { 'Accept-Encoding': coding, ...more } });

for (const [accepted, coding] of [
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br;q=0.5', 'gzip'],
  ['gzip;q=0.1, br', 'br'],
  ['*', 'br'],
  ['identity', null],
  ['gzip;q=0', null],
  ['deflate', null],
  ['', null],
] as const) {
  test(`sends a large answer ${coding ? `as ${coding}` : 'as it is'} to a caller who takes ${JSON.stringify(accepted)}`, async (context) => {
    const answer = await get(context, large, accepted);
    assert.is(answer.headers.get('content-encoding'), coding);
    assert.is(answer.headers.get('vary'), 'Accept-Encoding');
    assert.is(answer.json<{ text: string }>().text.length, compressedFrom - 11);
    if (coding) assert.ok(Number(answer.headers.get('content-length')) < 200);
  });
}

test('sends a small answer as it is, and says nothing of codings', async (context) => {
  const answer = await get(context, small, 'gzip, br');
  assert.equal([answer.headers.get('content-encoding'), answer.headers.get('vary')], [null, null]);
});

test('tags the bytes that it sends, each coding with a tag of its own, for If-Match all the same', async (context) => {
  const tags = [];
  for (const coding of ['identity', 'gzip', 'br']) {
    tags.push((await get(context, large, coding)).headers.get('etag') ?? '');
  }
  const [plain = ''] = tags;
  assert.equal(tags, [plain, plain.replace(/"$/, '.gzip"'), plain.replace(/"$/, '.br"')]);
  for (const tag of tags) {
    await context.machine.request('DELETE', '/v1/things/t', { headers: { 'If-Match': tag } });
    assert.is(context.machine.begun.at(-1)?.ifMatch, 5);
  }
});

test('answers 304 to the tag of the coding that the caller takes, with the headers of the answer', async (context) => {
  const tag = (await get(context, large, 'gzip')).headers.get('etag') ?? '';
  const again = await get(context, large, 'gzip', { 'If-None-Match': tag });
  assert.equal(
    [again.status, again.headers.get('etag'), again.headers.get('vary')],
    [304, tag, 'Accept-Encoding'],
  );
  assert.is(again.headers.get('content-encoding'), null);
  assert.is((await get(context, large, 'br', { 'If-None-Match': tag })).status, 200);
});

test('answers HEAD with the headers of GET', async ({ machine }) => {
  const headers = { 'Accept-Encoding': 'gzip' };
  const [head, whole] = [
    await machine.request('HEAD', large, { headers }),
    await machine.request('GET', large, { headers }),
  ];
  for (const name of ['content-encoding', 'content-length', 'etag', 'vary']) {
    assert.is(head.headers.get(name), whole.headers.get(name), name);
  }
});

test('sends the OpenAPI document compressed', async (context) => {
  const plain = await get(context, '/openapi.json', 'identity');
  const coded = await get(context, '/openapi.json', 'br');
  assert.equal([coded.headers.get('content-encoding'), coded.text], ['br', plain.text]);
});

test.run();
