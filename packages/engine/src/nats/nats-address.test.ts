import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { natsAddress } from './nats-address.ts';

const test = suite('NATS address');

test('one or several servers', () => {
  assert.equal(natsAddress('nats://one:4222'), { servers: ['one:4222'] });
  assert.equal(natsAddress('nats://one, nats://two:5'), { servers: ['one', 'two:5'] });
  assert.equal(natsAddress('nats://[::1]:4222'), { servers: ['[::1]:4222'] });
});

test('credentials are taken out of the address', () => {
  assert.equal(natsAddress('nats://relay:p%40ss@one:4222'), {
    servers: ['one:4222'],
    user: 'relay',
    pass: 'p@ss',
  });
  assert.equal(natsAddress('nats://s3cret@one'), { servers: ['one'], token: 's3cret' });
});

test('tls:// asks for TLS', () => {
  assert.equal(natsAddress('tls://one'), { servers: ['one'], tls: {} });
});

test('what is no address is refused without repeating it', () => {
  for (const text of ['', 'one:4222', 'http://user:hidden@one', 'nats://']) {
    assert.throws(
      () => natsAddress(text),
      (error: Error) => /nats:\/\/host:4222/.test(error.message) && !/hidden/.test(error.message),
    );
  }
});

test.run();
