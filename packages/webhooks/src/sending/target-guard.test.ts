import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { joined, type ResolveName } from './resolve-name.ts';
import { createSender, standardSendLimits } from './sender.ts';

import { strictTargetPolicy } from './target-policy.ts';

const test = suite<{ server: Server; port: number; calls: string[] }>('target guard');

test.before(async (context) => {
  context.calls = [];
  context.server = createServer((request, response) => {
    context.calls.push(request.url ?? '');
    if (request.url === '/redirect') {
      response.writeHead(302, { location: '/redirected' }).end();
    } else {
      response.end('fine');
    }
  });
  context.server.listen(0, '127.0.0.1');
  await once(context.server, 'listening');
  context.port = (context.server.address() as AddressInfo).port;
});

test.after(({ server }) => {
  server.closeAllConnections();
  server.close();
});

const allowLoopback = { ...strictTargetPolicy, allowHttp: true, allowedCidrs: ['127.0.0.0/8'] };
const always =
  (...addresses: string[]): ResolveName =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

async function send(url: string, policy = strictTargetPolicy, resolve?: ResolveName) {
  const sender = createSender({
    policy,
    limits: { ...standardSendLimits, connectTimeout: 1_000 },
    ...(resolve ? { resolve } : {}),
  });
  try {
    return await sender.send({ url, headers: {}, body: Buffer.from('{}') });
  } finally {
    await sender.close();
  }
}

const reasonOf = ({ result }: Awaited<ReturnType<typeof send>>): string =>
  result.kind === 'failure' ? result.reason : String(result.status);

test('loopback is reached when it is allowed', async ({ port }) => {
  assert.is(reasonOf(await send(`http://127.0.0.1:${port}/`, allowLoopback)), '200');
  const named = await send(`http://hook.example:${port}/`, allowLoopback, always('127.0.0.1'));
  assert.is(reasonOf(named), '200');
});

test('literal hosts of any form are blocked before a connection', async ({ port, calls }) => {
  const before = calls.length;
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ]) {
    assert.is(reasonOf(await send(`http://${host}:${port}/`)), 'blocked_address', host);
  }
  assert.is(calls.length, before, 'no request arrived');
});

test('a name is blocked when only one of its addresses is', async ({ port, calls }) => {
  const before = calls.length;
  for (const answers of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['::1', '2606:4700::1111']]) {
    const sent = await send(`http://hook.example:${port}/`, strictTargetPolicy, always(...answers));
    assert.is(reasonOf(sent), 'blocked_address', answers.join());
  }
  assert.is(calls.length, before, 'no request arrived');
});

test('a name that changes its answer gains nothing', async ({ port, calls }) => {
  const before = calls.length;
  const answers = ['127.0.0.1', '10.0.0.1'];
  let lookUps = 0;
  const rebinding: ResolveName = async () => {
    lookUps += 1;
    return [{ address: answers.shift() ?? '10.0.0.1', family: 4 }];
  };
  assert.is(reasonOf(await send(`http://hook.example:${port}/`, allowLoopback, rebinding)), '200');
  assert.is(lookUps, 1, 'the connection goes to the address that was checked');
  assert.is(calls.length, before + 1);
});

test('the system name of loopback is blocked too, where names of the system are known', async (context) => {
  const { port } = context;
  const privately = { ...strictTargetPolicy, allowedCidrs: ['10.0.0.0/8'] };
  assert.is(reasonOf(await send(`http://localhost:${port}/`, privately)), 'blocked_address');
  const known = await send(`http://localhost:${port}/`);
  assert.ok(['name', 'blocked_address'].includes(reasonOf(known)));
});

test('an address that turns out to be forbidden once connected gets no request', async (context) => {
  const { port, calls } = context;
  const before = calls.length;
  let looks = 0;
  // Allowed when it is looked at for the first time, forbidden ever after.
  const changing = {
    ...allowLoopback,
    get allowedCidrs() {
      looks += 1;
      return looks === 1 ? ['127.0.0.0/8'] : [];
    },
  };
  const sent = await send(`http://hook.example:${port}/`, changing, always('127.0.0.1'));
  assert.is(reasonOf(sent), 'blocked_address');
  assert.is(looks, 2);
  assert.is(calls.length, before);
});

test('redirects are not followed', async ({ port, calls }) => {
  const sent = await send(`http://127.0.0.1:${port}/redirect`, allowLoopback);
  assert.is(reasonOf(sent), '302');
  assert.not.ok(calls.includes('/redirected'));
});

test('a name without addresses is a failure of the name', async ({ port }) => {
  const unknown: ResolveName = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  };
  const sent = await send(`http://hook.example:${port}/`, strictTargetPolicy, unknown);
  assert.is(reasonOf(sent), 'name');
  assert.is(
    reasonOf(await send(`http://hook.example:${port}/`, strictTargetPolicy, always())),
    'name',
  );
});

test('deliveries that look up the same name at the same time share the answer', async ({
  port,
}) => {
  let lookUps = 0;
  const sender = createSender({
    policy: allowLoopback,
    resolve: async () => {
      lookUps += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  const outgoing = { url: `http://hook.example:${port}/`, headers: {}, body: Buffer.from('{}') };
  const sent = await Promise.all([sender.send(outgoing), sender.send(outgoing)]);
  await sender.close();
  assert.equal(sent.map(reasonOf), ['200', '200']);
  assert.is(lookUps, 1);
});

test('look-ups of one name that run at the same time are one', async () => {
  let started = 0;
  let finish = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const resolve = joined(async () => {
    started += 1;
    await gate;
    return [{ address: '8.8.8.8', family: 4 }];
  });
  const both = Promise.all([resolve('a.example'), resolve('a.example'), resolve('b.example')]);
  assert.is(started, 2);
  finish();
  await both;
  await resolve('a.example');
  assert.is(started, 3, 'a later look-up asks again');
});

test.run();
