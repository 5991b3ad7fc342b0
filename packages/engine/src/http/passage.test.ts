import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OwnedElsewhere } from '../decide/ownership.ts';
import type { RequestContext } from '../define/request-context.ts';
import type { HandedAnswer, HandedRequest } from './handed-request.ts';
import type { BeginRequest } from './host.ts';
import { caller, type Machine, startMachine, thingRoutes } from './test-machine.ts';

const test = suite('requests that go elsewhere');

const stream = 'thing-env_1.thing_1';
const machines: Machine[] = [];
test.after(async () => {
  for (const { server } of machines) await server.close(0);
});

/** A value as it comes out of a message. */
const sent = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** Two processes: whatever may go elsewhere goes from the first to the second, which answers or not. */
async function twoProcesses({ isSilent = false, principal = caller('writer', ':write') } = {}) {
  const owner = await startMachine(thingRoutes);
  const handed: HandedRequest[] = [];
  const begun: BeginRequest[] = [];
  const written: string[] = [];
  const order: [instant: number, what: string][] = [];
  const outcome = { position: 9n, replayed: false, lagMilliseconds: null };
  const door = await startMachine(thingRoutes, {
    host: {
      begin: (request) => {
        begun.push(request);
        order.push([performance.now(), 'begun here']);
        if (request.mayGoElsewhere) throw new OwnedElsewhere(stream, 'other');
        return { context: {} as RequestContext, ...outcome };
      },
    },
    elsewhere: {
      ownerElsewhere: () => 'other',
      handOver: async (_owner, { value }, startedAt) => {
        handed.push(value);
        order.push([startedAt, 'came'], [performance.now(), 'handed over']);
        const answer = await owner.server.carryOut(sent(value), principal);
        return isSilent || !answer ? null : sent<HandedAnswer>(answer.value);
      },
      written: async (_caller, name, position) => {
        written.push(`${name} ${position}`);
      },
    },
  });
  machines.push(door, owner);
  return { door, owner, handed, begun, written, order };
}

const requests: readonly (readonly [string, string, unknown?])[] = [
  ['POST', '/v1/things', { name: 'New „thing“' }],
  ['PUT', '/v1/things/thing_1', { name: 'Other' }],
  ['POST', '/v1/things/thing_1/poke'],
  ['DELETE', '/v1/things/thing_1'],
];

for (const [method, path, body] of requests) {
  test(`${method} ${path} is answered by the owner as it would be here`, async () => {
    const { door, owner, written } = await twoProcesses();
    owner.outcome.position = 7n;
    owner.outcome.replayed = true;
    const options = body === undefined ? {} : { body };
    const there = await door.request(method, path, options);
    const here = await owner.request(method, path, options);
    assert.is(there.status, here.status);
    assert.is(there.text, here.text);
    for (const name of ['etag', 'location', 'counterfoil-position', 'idempotency-replayed']) {
      assert.is(there.headers.get(name), here.headers.get(name), name);
    }
    assert.equal(written, [`${stream} 7`]);
  });
}

test('the owner gets the request as it came, with a key that was made for it', async () => {
  const { door, owner, handed } = await twoProcesses();
  const headers = { 'idempotency-key': 'mine', 'if-match': '"3"', 'x-request-id': 'req-1' };
  await door.request('PUT', '/v1/things/thing_1', { body: { name: 'A' }, headers });
  const [there] = owner.begun;
  assert.is(there?.requestId, 'req-1');
  assert.is(there?.ifMatch, 3);
  assert.is(there?.receivedAt, handed[0]?.receivedAt);
  assert.not(there?.mayGoElsewhere, 'it is not handed on');
  assert.is(there?.madeKey?.remembersRefusals, false);
  assert.not('x-api-key' in (handed[0]?.headers ?? {}), 'the key of the caller stays here');
});

test('without an answer it is carried out here, under the same key, which now remembers refusals', async () => {
  const { door, owner, begun } = await twoProcesses({ isSilent: true });
  const answer = await door.request('PUT', '/v1/things/thing_1', { body: { name: 'A' } });
  assert.is(answer.status, 200);
  assert.is(answer.headers.get('counterfoil-position'), '9');
  const [, here] = begun;
  assert.not(here?.mayGoElsewhere);
  assert.equal(here?.madeKey, { key: owner.begun[0]?.madeKey?.key, remembersRefusals: true });
});

test('a request to the same path goes over without being begun here', async () => {
  const { door, begun, handed } = await twoProcesses();
  for (let times = 0; times < 3; times += 1) {
    await door.request('PUT', '/v1/things/thing_1', { body: { name: 'A' } });
  }
  assert.equal([begun.length, handed.length], [1, 3]);
  await door.request('PUT', '/v1/things/thing_2', { body: { name: 'A' } });
  assert.equal([begun.length, handed.length], [2, 4]);
});

test('the time of the owner counts from when the request came, not from when it was handed over', async () => {
  const { door, order } = await twoProcesses();
  await door.request('PUT', '/v1/things/thing_1', { body: { name: 'A' } });
  const inTime = order.toSorted(([one], [other]) => one - other).map(([, what]) => what);
  assert.equal(inTime, ['came', 'begun here', 'handed over']);
});

test('a failure there is the failure here, and the owner checks the right of the caller again', async () => {
  const { door } = await twoProcesses({ principal: caller('reader', ':read') });
  const answer = await door.request('PUT', '/v1/things/thing_1', { body: { name: 'A' } });
  assert.is(answer.status, 403);
  assert.is(answer.problem().code, 'permission_denied');
  assert.equal(answer.problem().details?.permission, 'thing:write');
  assert.is(answer.problem().instance, answer.headers.get('x-request-id'));
});

test('reads stay here', async () => {
  const { door, handed } = await twoProcesses();
  assert.is((await door.request('GET', '/v1/things/thing_1')).status, 200);
  assert.is(handed.length, 0);
});

test.run();
