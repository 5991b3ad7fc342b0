import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { route } from '../define/route.ts';
import { bodyOf, exchangeRaw, openConversation, statusOf } from './test-conversation.ts';
import { type Machine, startMachine, thingRoutes, waitingRoute } from './test-machine.ts';

const test = suite('connections');

/** Longer than any test may take: closing must finish by itself. */
const patience = 600_000;

test('closing lets requests in hand finish, and takes no new connection', async () => {
  const { routes, started, release } = waitingRoute();
  const machine = await startMachine(routes);
  const waiting = machine.request('POST', '/v1/acts');
  await started.promise;
  const closed = machine.server.close(patience);
  await assertFails(exchangeRaw(machine.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'));
  release.resolve();
  assert.is((await waiting).status, 200);
  await closed;
});

async function assertFails(promise: Promise<unknown>): Promise<void> {
  const failed = await promise.then(
    () => false,
    () => true,
  );
  assert.ok(failed, 'was expected to fail');
}

test('closing cuts what does not finish in time', async () => {
  const { routes, started, release } = waitingRoute();
  const machine = await startMachine(routes);
  const cut = assertFails(machine.request('POST', '/v1/acts'));
  await started.promise;
  await machine.server.close(20);
  await cut;
  release.resolve();
});

test('says on an open connection that it is closing, and is no longer ready', async () => {
  const { routes, started, release } = waitingRoute();
  const asked = Promise.withResolvers<void>();
  const check = async () => asked.resolve();
  const machine = await startMachine(routes, {
    health: [{ name: 'probe', required: false, check }],
  });
  const conversation = openConversation(machine.port);
  conversation.say('POST /v1/acts HTTP/1.1\r\nHost: a\r\nx-api-key: sk_writer\r\n\r\n');
  await started.promise;
  const closed = machine.server.close(patience);
  conversation.say('GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n');
  await asked.promise;
  release.resolve();
  const answers = await conversation.heard;
  await closed;
  assert.is(statusOf(answers), 200);
  const second = answers.slice(answers.lastIndexOf('HTTP/1.1'));
  assert.is(statusOf(second), 503);
  assert.match(second, /Connection: close/);
  assert.match(second, /the server is closing/);
});

test('closing twice, or without having listened, does nothing', async () => {
  const machine = await startMachine();
  await machine.server.close(100);
  await machine.server.close(100);
});

test('a port that is taken is an error of listen', async () => {
  const machine = await startMachine();
  const other = await startMachine();
  await other.server.close(100);
  await assertFails(other.server.listen(machine.port, '127.0.0.1'));
  await machine.server.close(100);
});

for (const [name, text, message] of [
  ['garbage', 'garbage\r\n\r\n', /well-formed HTTP/],
  ['headers that are too large', `GET / HTTP/1.1\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`, /16 KiB/],
] as const) {
  test(`answers ${name} in the one shape`, async () => {
    const machine = await startMachine();
    const answer = await exchangeRaw(machine.port, text);
    assert.is(statusOf(answer), 400);
    const body = bodyOf(answer);
    assert.is(body.code, 'validation_error');
    assert.match(String(body.message), message);
    await machine.server.close(100);
  });
}

/** Opens when the machine has logged such a line. */
function logged(machine: Machine, isIt: (line: Record<string, unknown>) => boolean) {
  const seen = Promise.withResolvers<void>();
  const push = machine.lines.push.bind(machine.lines);
  machine.lines.push = (...lines) => {
    if (lines.some(isIt)) seen.resolve();
    return push(...lines);
  };
  return seen;
}

test('a caller who goes away does no harm and is logged as such', async () => {
  const { routes, started, release } = waitingRoute();
  const machine = await startMachine(routes);
  const gone = logged(machine, ({ status }) => status === 499);
  const socket = connect(machine.port, '127.0.0.1');
  socket.write('POST /v1/acts HTTP/1.1\r\nHost: a\r\nx-api-key: sk_writer\r\n\r\n');
  await started.promise;
  socket.destroy();
  await gone.promise;
  release.resolve();
  assert.is((await machine.request('POST', '/v1/acts')).status, 200);
  await machine.server.close(100);
});

test('a caller who goes away in the middle of a body does no harm', async () => {
  const machine = await startMachine();
  const gone = logged(machine, ({ route: label }) => label === 'POST /things');
  const socket = connect(machine.port, '127.0.0.1');
  const head = 'POST /v1/things HTTP/1.1\r\nHost: a\r\nx-api-key: sk_writer\r\n';
  const type = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{';
  await new Promise((resolve) => socket.write(head + type, resolve));
  socket.destroy();
  await gone.promise;
  assert.is(machine.begun.length, 0);
  assert.is((await machine.request('GET', '/v1/things/t')).status, 200);
  await machine.server.close(100);
});

test('a connection that says nothing is closed without a word', async () => {
  const machine = await startMachine(thingRoutes, { requestTimeoutMs: 50 });
  assert.is(await openConversation(machine.port).heard, '');
  await machine.server.close(100);
});

test('408 for headers that do not come to an end', async () => {
  const machine = await startMachine(thingRoutes, { requestTimeoutMs: 50 });
  const answer = await exchangeRaw(machine.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n');
  assert.is(statusOf(answer), 408);
  assert.is(bodyOf(answer).code, 'request_timeout');
  assert.match(answer, /Connection: close/);
  await machine.server.close(100);
});

test('requests that arrived while the process stood still are answered', async () => {
  const requestTimeoutMs = 2_000;
  const machine = await startMachine(thingRoutes, { requestTimeoutMs });
  const conversations = Array.from({ length: 16 }, () => openConversation(machine.port));
  await Promise.all(conversations.map(({ connected }) => connected));
  // Connections are accepted in their order, so all of the 16 now have been.
  await machine.request('GET', '/healthz');
  for (const { say } of conversations) {
    say('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  }
  standStill(requestTimeoutMs + 500);
  const answers = await Promise.all(conversations.map(({ heard }) => heard));
  assert.equal([...new Set(answers.map(statusOf))], [200]);
  await machine.server.close(100);
});

/** Lets nothing happen in this process, as when the system gives it no processor. */
function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test('an expectation that is not known is ignored', async () => {
  const machine = await startMachine();
  const answer = await exchangeRaw(
    machine.port,
    'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: the-best\r\nConnection: close\r\n\r\n',
  );
  assert.is(statusOf(answer), 200);
  await machine.server.close(100);
});

test('a table of routes that contradicts itself does not start', async () => {
  const base = thingRoutes['DELETE /things/{id}'];
  assert.ok(base);
  const wrong = route({ ...base, status: 200 });
  await assertFails(startMachine({ 'DELETE /things/{id}': wrong }));
  await assertFails(startMachine({ 'DELETE /things/{other}': base }));
});

test.run();
