import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type AttemptResult,
  disableReasonOf,
  followUpOf,
  readInstruction,
  readRetryAfter,
  standardRetryPolicy,
} from './retry.ts';

const test = suite('retries');

const middle = 0.5;
const hour = 3_600_000;
const answer = (status: number, retryAfterSeconds: number | null = null) =>
  ({ kind: 'answer', status, retryAfterSeconds }) as const;
const failure = (reason: 'time_out' | 'name' | 'blocked_address' | 'tls' | 'connection') =>
  ({ kind: 'failure', reason }) as const;
const followUp = (result: AttemptResult, failures = 1, jitter = middle) =>
  followUpOf(result, failures, standardRetryPolicy, jitter);
const delay = (result: AttemptResult, failures = 1, jitter = middle): number => {
  const { kind, ...rest } = followUp(result, failures, jitter);
  assert.is(kind, 'retry');
  return 'delay' in rest ? rest.delay : 0;
};

test('every 2xx delivers', () => {
  for (const status of [200, 201, 202, 204, 299]) {
    assert.is(followUp(answer(status)).kind, 'delivered');
  }
});

test('everything else but 410 is tried again, redirects included', () => {
  for (const status of [101, 300, 301, 302, 307, 400, 401, 404, 422, 500, 503, 599]) {
    assert.is(followUp(answer(status)).kind, 'retry', String(status));
  }
  for (const reason of ['time_out', 'name', 'tls', 'connection', 'blocked_address'] as const) {
    assert.is(followUp(failure(reason)).kind, 'retry', reason);
  }
  assert.is(followUp(answer(410)).kind, 'exhausted');
});

test('eleven attempts spread over three days, then no more', () => {
  const delays = Array.from({ length: 10 }, (_, index) => delay(answer(500), index + 1));
  const total = delays.reduce((sum, one) => sum + one, 0);
  assert.is(delays[0], 5_000);
  assert.is(delays.at(-1), 24 * hour);
  assert.ok(total > 75.5 * hour && total < 75.7 * hour, `${total / hour} hours`);
  assert.is(followUp(answer(500), 11).kind, 'exhausted');
});

test('jitter moves a step by at most a fifth', () => {
  assert.is(delay(answer(500), 1, 0), 4_000);
  assert.is(delay(answer(500), 1, 0.999_999), 6_000);
});

test('a receiver that is overloaded gets at least a minute', () => {
  for (const status of [429, 502, 503, 504]) assert.is(delay(answer(status)), 60_000);
  assert.is(delay(failure('time_out')), 60_000);
  assert.is(delay(answer(503), 4), 30 * 60_000, 'a longer step stays');
});

test('Retry-After lengthens the wait, within limits, and never shortens it', () => {
  assert.is(delay(answer(503, 600)), 600_000);
  assert.is(delay(answer(503, 1)), 60_000);
  assert.is(delay(answer(503, 86_400)), hour);
  assert.is(delay(answer(503, 86_400), 5), 4 * hour, 'twice the step where that is longer');
});

test('a blocked address gets three attempts', () => {
  assert.is(followUp(failure('blocked_address'), 2).kind, 'retry');
  assert.is(followUp(failure('blocked_address'), 3).kind, 'exhausted');
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.parse('2026-11-21T00:00:00Z');
  assert.is(readRetryAfter('120', now), 120);
  assert.is(readRetryAfter(' 0 ', now), 0);
  assert.is(readRetryAfter('Sat, 21 Nov 2026 00:02:00 GMT', now), 120);
  assert.is(readRetryAfter('Fri, 20 Nov 2026 00:00:00 GMT', now), 0, 'never negative');
  for (const odd of [undefined, '', 'soon', '-5', '1.5', '99999999999', '2026-11-21']) {
    assert.is(readRetryAfter(odd, now), null, String(odd));
  }
});

test('a receiver can give a message up, or the endpoint', () => {
  assert.is(readInstruction(' Disable '), 'disable');
  assert.is(readInstruction('abort-message'), 'abort_message');
  assert.is(readInstruction('stop'), null);
  assert.is(readInstruction(undefined), null);
  const refused = { ...answer(500), instruction: 'abort_message' as const };
  assert.equal(followUp(refused), { kind: 'exhausted', cause: 'refused' });
  assert.is(disableReasonOf(refused), null);
  const disabling = { ...answer(200), instruction: 'disable' as const };
  assert.equal(
    [followUp(disabling).kind, disableReasonOf(disabling)],
    ['delivered', 'by_receiver'],
  );
  assert.is(disableReasonOf(answer(410)), 'gone');
  assert.is(disableReasonOf(failure('time_out')), null);
});

test.run();
