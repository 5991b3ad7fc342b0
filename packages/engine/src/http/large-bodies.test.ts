import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type Routes, route } from '../define/route.ts';
import type { HttpOptions } from './host.ts';
import { bodyOf, openConversation, statusOf } from './test-conversation.ts';
import { keysOfTenants, startMachine } from './test-machine.ts';

const test = suite('large bodies over HTTP');

const large = 'x'.repeat(100 * 1024);

/** A route for large bodies, whose handler waits until the test releases it, and room for one of them per tenant. */
async function world(options: Partial<HttpOptions> = {}) {
  const release = Promise.withResolvers<void>();
  const bolt = Promise.withResolvers<void>();
  const acme = Promise.withResolvers<void>();
  const begun: string[] = [];
  const routes: Routes = {
    'POST /loads': route({
      tag: 'loads',
      summary: 'Loads',
      status: 200,
      permission: null,
      bodyLimitBytes: 200 * 1024,
      body: z.object({ name: z.string(), load: z.string() }),
      response: z.unknown(),
      handle: async (_context, { body }) => {
        begun.push(body.name);
        if (body.name === 'bolt') bolt.resolve();
        if (body.name === 'acme') acme.resolve();
        if (body.load === large) await release.promise;
        return {};
      },
    }),
  };
  const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [firstCall, secondCall] = calls.map(({ promise }) => promise);
  let called = 0;
  const machine = await startMachine(routes, {
    bodyRoomBytes: 150 * 1024,
    authenticate: (key) => {
      calls[called]?.resolve();
      called += 1;
      return keysOfTenants.authenticate(key);
    },
    ...options,
  });
  const post = (key: string, name: string, load: string) =>
    machine.request('POST', '/v1/loads', { key, body: { name, load } });
  return {
    machine,
    begun,
    release,
    firstCall,
    secondCall,
    acme: acme.promise,
    bolt: bolt.promise,
    post,
  };
}

test('those of a tenant wait until there is room; small ones and other tenants do not', async () => {
  const { machine, begun, release, acme, bolt, post } = await world();
  const others = [post('acme', 'acme', large), post('bolt', 'bolt', large)];
  await Promise.all([acme, bolt]);
  const waiting = post('acme', 'waiting', large);
  for (let index = 0; index < 10; index += 1) {
    assert.is((await post('acme', 'small', 'x')).status, 200);
  }
  assert.not.ok(begun.includes('waiting'));
  release.resolve();
  const answers = await Promise.all([...others, waiting]);
  assert.equal(
    answers.map(({ status }) => status),
    [200, 200, 200],
  );
  await machine.server.close(100);
});

test('429 for one that has found no room in the time to receive it, and its connection ends', async () => {
  const { machine, begun, release, firstCall, secondCall, acme } = await world({
    requestTimeoutMs: 2_000,
  });
  const text = JSON.stringify({ name: 'acme', load: large });
  const head =
    'POST /v1/loads HTTP/1.1\r\nHost: a\r\nx-api-key: acme\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${text.length}\r\n\r\n`;
  const [first, second] = [openConversation(machine.port), openConversation(machine.port)];
  first.say(head + text.slice(0, 9));
  await firstCall;
  second.say(head + text);
  await secondCall;
  // The time of the first begins again when it has arrived, so that it outlives that of the second.
  first.say(text.slice(9));
  await acme;
  const answer = await second.heard;
  assert.is(statusOf(answer), 429);
  assert.match(answer, /Retry-After: 1/);
  assert.match(answer, /Connection: close/);
  assert.is(bodyOf(answer).code, 'too_many_requests');
  assert.equal(begun, ['acme']);
  release.resolve();
  await machine.server.close(1);
  await first.heard;
});

test('room is given back by a request that breaks off', async () => {
  const { machine, release, firstCall, post } = await world();
  release.resolve();
  const broken = openConversation(machine.port);
  broken.say(
    'POST /v1/loads HTTP/1.1\r\nHost: a\r\nx-api-key: acme\r\nContent-Type: application/json\r\n' +
      'Content-Length: 102400\r\n\r\n{',
  );
  await firstCall;
  const waiting = post('acme', 'waiting', large);
  broken.hangUp();
  assert.is((await waiting).status, 200);
  await machine.server.close(100);
});

test.run();
