import { instantOf, Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Principal } from '../define/context.ts';
import { createLog } from '../operations/log.ts';
import { answerMessagesWith } from './answer-message.ts';
import type { Endpoint } from './endpoint.ts';
import type { HandedAnswer } from './handed-request.ts';

const test = suite('requests that come in messages');

const request = {
  route: 'POST /boxes',
  bytes: Buffer.from('{}'),
  headers: {},
  requestId: 'req_1',
  receivedAt: instantOf(0),
} as const;
const result: HandedAnswer = {
  kind: 'result',
  position: '7',
  replayed: false,
  lagMilliseconds: null,
  ignored: [],
  text: '{"id":"box_1"}',
  revision: null,
  location: null,
};
const caller = { tenantId: 'tenant_1', keyId: 'secret_1' } as Principal;

interface World {
  readonly outcome?: () => Promise<HandedAnswer>;
  readonly refusal?: Problem;
  readonly limit?: number;
}

const answerWith = ({ outcome = async () => result, refusal, limit = 100 }: World) =>
  answerMessagesWith({
    log: createLog({ level: 'silent', name: 'test' }),
    requestTimeoutMs: 5,
    endpointOf: () => ({ bodyLimitBytes: limit, route: { status: 201 } }) as Endpoint,
    countRate: () => ({ limit: 1, left: 1, refusal: refusal ?? null }),
    carryOut: outcome,
  });

test('a result has the status of its route, its position and its body', async () => {
  assert.equal(await answerWith({})(request, () => caller), {
    status: 201,
    code: null,
    position: '7',
    retryAfterSeconds: null,
    text: '{"id":"box_1"}',
  });
});

const away = new Problem('service_unavailable', 'away', { retryAfterSeconds: 3 });
const never = new Promise<HandedAnswer>(() => {});
const failures: readonly (readonly [
  string,
  World,
  () => Principal | null,
  string,
  number | null,
])[] = [
  ['a caller that counts no more', {}, () => null, 'unauthenticated', null],
  [
    'a caller that cannot be made out',
    {},
    () => {
      throw away;
    },
    'service_unavailable',
    3,
  ],
  ['a rate that is used up', { refusal: away }, () => caller, 'service_unavailable', 3],
  ['a body that is too large', { limit: 1 }, () => caller, 'payload_too_large', null],
  [
    'an answer that does not come',
    { outcome: () => never },
    () => caller,
    'service_unavailable',
    null,
  ],
  [
    'a fault',
    { outcome: () => Promise.reject(new Error('x')) },
    () => caller,
    'internal_error',
    null,
  ],
];

for (const [what, world, callerOf, code, retryAfterSeconds] of failures) {
  test(`${what} is answered with a problem`, async () => {
    const { text, ...answer } = await answerWith(world)(request, callerOf);
    const { code: named, instance, status } = JSON.parse(text);
    assert.equal([answer.code, answer.retryAfterSeconds], [code, retryAfterSeconds]);
    assert.equal([named, instance, status], [code, 'req_1', answer.status]);
  });
}

test.run();
