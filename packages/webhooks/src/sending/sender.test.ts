import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createSender,
  RequestCut,
  type SendLimits,
  type Sent,
  standardSendLimits,
} from './sender.ts';
import { strictTargetPolicy } from './target-policy.ts';

const test = suite('sender');

const policy = { ...strictTargetPolicy, allowHttp: true, allowedCidrs: ['127.0.0.0/8'] };

/** Starts a server, sends one request to it and stops everything again. */
async function sendTo(
  server: Server,
  limits: Partial<SendLimits> = {},
  signal?: AbortSignal,
): Promise<Sent> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = createSender({ policy, limits: { ...standardSendLimits, ...limits } });
  try {
    const outgoing = {
      url: `http://127.0.0.1:${port}/hook?a=b`,
      headers: { 'content-type': 'application/json', 'x-own': 'yes' },
      body: Buffer.from('{"a":1}'),
    };
    return await sender.send(outgoing, signal);
  } finally {
    await sender.close();
    server.close();
    if ('closeAllConnections' in server) (server.closeAllConnections as () => void)();
  }
}

const answering = (listener: RequestListener): Server => createHttpServer(listener);
const raw = (bytes: string): Server =>
  createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });

test('method, path, headers and body arrive; status and the head of the answer come back', async () => {
  const seen: unknown[] = [];
  const sent = await sendTo(
    answering((request, response) => {
      request.on('data', (chunk) => seen.push(String(chunk)));
      request.on('end', () => {
        seen.push(request.method, request.url, request.headers['x-own']);
        response.writeHead(202, { 'retry-after': '7' }).end('tha\0nks');
      });
    }),
  );
  assert.equal(seen, ['{"a":1}', 'POST', '/hook?a=b', 'yes']);
  assert.equal(sent.result, {
    kind: 'answer',
    status: 202,
    retryAfterSeconds: 7,
    instruction: null,
  });
  assert.is(sent.detail, 'thanks');
});

test('the address that was reached is told, also over a connection that is used again', async () => {
  const server = answering((_, response) => response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const sender = createSender({ policy, resolve });
  const send = (to: number) =>
    sender.send({ url: `http://hook.example:${to}/`, headers: {}, body: Buffer.from('{}') });
  try {
    assert.is((await send(port)).address, '127.0.0.1');
    assert.is((await send(port)).address, '127.0.0.1', 'by the same connection');
    const both = await Promise.all([send(port), send(port)]);
    assert.equal(
      both.map(({ address }) => address),
      ['127.0.0.1', '127.0.0.1'],
    );
    server.close();
    (server as { closeAllConnections?: () => void }).closeAllConnections?.();
    await once(server, 'close');
    // The first one may still go out over a connection that has just ended.
    await send(port);
    const refused = await send(port);
    assert.equal([refused.result.kind, refused.address], ['failure', null]);
  } finally {
    await sender.close();
    server.close();
  }
});

test('an answer may take all the time that receivers are promised', () => {
  assert.is(standardSendLimits.totalTimeout, 15_000);
  assert.is(standardSendLimits.headersTimeout, standardSendLimits.totalTimeout);
});

test('what is cut off by the caller is told from what took too long', async () => {
  const controller = new AbortController();
  const server = answering(() => controller.abort(new RequestCut('too many')));
  const sent = await sendTo(server, {}, controller.signal);
  assert.equal(sent.result, { kind: 'failure', reason: 'cut_off' });
  assert.is(sent.detail, 'too many');
});

test('no more than the limit of an endless answer is read', async () => {
  let written = 0;
  const sent = await sendTo(
    answering((_request, response) => {
      const more = (): void => {
        while (!response.destroyed && written < 64 * 1024 * 1024) {
          written += 16_384;
          if (!response.write('x'.repeat(16_384))) break;
        }
      };
      response.on('drain', more);
      response.writeHead(200);
      more();
    }),
  );
  assert.equal(sent.result, {
    kind: 'answer',
    status: 200,
    retryAfterSeconds: null,
    instruction: null,
  });
  assert.is(sent.detail, 'x'.repeat(standardSendLimits.answerHead));
  assert.ok(written < 64 * 1024 * 1024, 'the connection was cut');
});

test('a receiver that never answers is a time-out', async () => {
  const silent = answering(() => undefined);
  const sent = await sendTo(silent, { totalTimeout: 60 });
  assert.equal(sent.result, { kind: 'failure', reason: 'time_out' });
});

test('a status that came counts, even when the body then hangs or breaks', async () => {
  let hanging: Sent | null = null;
  // On a busy machine the status itself may need longer than the shortest of these.
  for (const totalTimeout of [60, 600, 6_000, 60_000]) {
    const server = answering((_request, response) => {
      response.writeHead(200);
      response.write('begin');
    });
    hanging = await sendTo(server, { totalTimeout });
    if (hanging.detail !== '' && hanging.result.kind === 'answer') break;
  }
  assert.ok(hanging);
  assert.equal(hanging.result, {
    kind: 'answer',
    status: 200,
    retryAfterSeconds: null,
    instruction: null,
  });
  assert.is(hanging.detail, 'begin');
  const broken = await sendTo(raw('HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\npart'));
  assert.equal(broken.result, {
    kind: 'answer',
    status: 500,
    retryAfterSeconds: null,
    instruction: null,
  });
});

test('what is not HTTP and a refused connection are failures of the connection', async () => {
  const garbage = await sendTo(raw('SSH-2.0-OpenSSH\r\n'));
  assert.equal(garbage.result, { kind: 'failure', reason: 'connection' });
  const cut = await sendTo(raw(''));
  assert.equal(cut.result, { kind: 'failure', reason: 'connection' });
  const sender = createSender({ policy });
  const refused = await sender.send({
    url: 'http://127.0.0.1:1/',
    headers: {},
    body: Buffer.from('{}'),
  });
  await sender.close();
  assert.equal(refused.result, { kind: 'failure', reason: 'connection' });
  assert.match(refused.detail, /ECONNREFUSED/);
});

test('an answer with huge headers is refused', async () => {
  const sent = await sendTo(raw(`HTTP/1.1 200 OK\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`));
  assert.is(sent.result.kind, 'failure');
});

test('a receiver without TLS is a failure of TLS', async () => {
  const server = raw('HTTP/1.1 200 OK\r\n\r\n');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sender = createSender({ policy });
  const sent = await sender.send({
    url: `https://127.0.0.1:${port}/`,
    headers: {},
    body: Buffer.from('{}'),
  });
  await sender.close();
  server.close();
  assert.equal(sent.result, { kind: 'failure', reason: 'tls' });
});

test.run();
