import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UnreadableEvent } from '../log/incoming-event.ts';
import { StoreRefused, StoreUnavailable } from '../log/types.ts';
import { NatsRefused } from '../nats/nats-connection.ts';
import { explain, isRefusal } from './explain.ts';

const test = suite('what an operator is told');

const postgresError = (code: string, message = 'no'): Error =>
  Object.assign(new Error(message), { code });

test('errors for the operator are told as they are', () => {
  assert.is(explain(new Problem('not_found', 'Do this.')), 'Do this.');
});

test('an event that cannot be read is named', () => {
  const error = new UnreadableEvent('wallet-env_1.wallet_1', 2, 'its data is no JSON');
  assert.is(explain(error), 'wallet-env_1.wallet_1@2 cannot be read: its data is no JSON');
});

test('a refused password, database or right names the variable and the remedy', () => {
  for (const code of ['28P01', '28000', '3D000', '42501']) {
    assert.match(explain(postgresError(code)) ?? '', /DATABASE_URL.*: .*\.$/);
  }
  assert.match(explain(new StoreRefused('user')) ?? '', /EVENTSTORE_URL/);
  assert.match(explain(new StoreRefused('right')) ?? '', /EVENTSTORE_URL/);
  assert.match(explain(new NatsRefused()) ?? '', /NATS_URL/);
});

test('a server that is away is told in one line', () => {
  const away = new StoreUnavailable('read: 14 UNAVAILABLE:\n connect ECONNREFUSED');
  assert.match(explain(away) ?? '', /^The event store .* does not answer: .*ECONNREFUSED\)\.$/);
  const refused = postgresError('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432');
  assert.match(explain(refused) ?? '', /^PostgreSQL does not answer .*5432\)\.$/);
});

test('what refuses the program is told from what is only away', () => {
  assert.ok(isRefusal(postgresError('28P01')));
  assert.ok(isRefusal(new StoreRefused('right')));
  assert.not(isRefusal(postgresError('ECONNREFUSED')));
  assert.not(isRefusal(new StoreUnavailable('away')));
  assert.not(isRefusal(new TypeError('x is undefined')));
});

test('a defect of the program is not explained away', () => {
  assert.is(explain(new TypeError('x is undefined')), null);
  assert.is(explain(postgresError('42P01')), null);
  assert.is(explain('a text'), null);
});

test.run();
