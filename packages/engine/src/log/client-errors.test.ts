import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  describe,
  isKeptByClient,
  isStreamNotFound,
  readError,
  sentAppendError,
  unsentAppendError,
} from './client-errors.ts';
import { StoreRefused, StoreUnavailable } from './types.ts';

const test = suite('client-errors');
const clientError = (fields: Record<string, unknown>, message = ''): Error =>
  Object.assign(new Error(message), fields);
const failureOf = (fields: Record<string, unknown>) =>
  sentAppendError('wallet-env_1.w1', clientError(fields)).failure;

test('knows the refusals that the server answers to a single append', () => {
  assert.is(failureOf({ type: 'wrong-expected-version', code: undefined }), 'conflict');
  assert.is(failureOf({ type: 'stream-deleted' }), 'deleted');
  assert.is(failureOf({ type: 'maximum-append-size-exceeded' }), 'too_large');
  assert.is(failureOf({ type: 'access-denied' }), 'fatal');
});

test('leaves the outcome open for everything that ended the shared stream', () => {
  for (const type of [
    'unavailable',
    'cancelled',
    'access-denied',
    'stream-deleted',
    'not-leader',
  ]) {
    assert.is(failureOf({ type, code: 7 }), 'unknown_outcome');
  }
});

test('leaves the outcome open whenever it is in doubt', () => {
  for (const type of ['timeout', 'deadline-exceeded', 'unknown', 'not-leader', 'new-in-7.0']) {
    assert.is(failureOf({ type }), 'unknown_outcome');
  }
  assert.is(failureOf({ code: 14 }), 'unknown_outcome');
  assert.is(sentAppendError('wallet-env_1.w1', 'a string').failure, 'unknown_outcome');
  assert.is(sentAppendError('wallet-env_1.w1', undefined).failure, 'unknown_outcome');
});

test('says what was expected when the message of the client is empty', () => {
  const conflict = clientError({
    type: 'wrong-expected-version',
    expectedVersion: 3n,
    actualVersion: 'no_stream',
  });
  assert.is(describe(conflict), 'wrong-expected-version, expected 3, found no_stream');
  assert.is(sentAppendError('s', conflict).message, `s: ${describe(conflict)}`);
  assert.is(sentAppendError('s', conflict).cause, conflict);
});

test('marks what was not sent', () => {
  const error = unsentAppendError('s', 'closed');
  assert.is(error.failure, 'unavailable');
  assert.is(error.message, 's: not sent: closed');
});

test('tells reads that may succeed later from those that never will', () => {
  for (const type of ['unavailable', 'cancelled', 'unknown', 'timeout', 'not-leader', undefined]) {
    assert.instance(readError('read', clientError({ type })), StoreUnavailable);
  }
  for (const type of ['access-denied', 'stream-deleted', 'invalid-argument']) {
    assert.not.instance(readError('read', clientError({ type })), StoreUnavailable);
  }
  assert.ok(isStreamNotFound(clientError({ type: 'stream-not-found' })));
  assert.not(isStreamNotFound(clientError({ type: 'unavailable' })));
});

test('knows which first errors the client forgets by itself', () => {
  assert.not(isKeptByClient(clientError({ code: 14 })));
  assert.not(isKeptByClient(clientError({ code: 1 })));
  assert.ok(isKeptByClient(clientError({ code: 13 })));
  assert.ok(isKeptByClient(new Error('no code')));
});

test('tells a user that the server does not know from one without a right', () => {
  const refusedBy = (code: number) =>
    readError('read', clientError({ type: 'access-denied', code }));
  for (const [code, sentence] of [
    [16, /user and password of EVENTSTORE_URL/],
    [7, /read \$all/],
  ] as const) {
    assert.instance(refusedBy(code), StoreRefused);
    assert.match(refusedBy(code).message, sentence);
  }
});

test.run();
