import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { recordedPid } from '@counterfoil/local';
import type { NatsConnection } from 'nats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../eventually.ts';
import { type PartName, type Stack, startStack, type TestTenant } from '../stack.ts';
import {
  type CustomerEvent,
  connectWith,
  type IssuedCredentials,
  refusalOf,
  takeNames,
} from './gateway-clients.ts';

const test = suite('credentials for the event gateway');

let stack: Stack;
let tenant: TestTenant;
const opened: NatsConnection[] = [];
test.before(async () => {
  stack = await startStack();
  tenant = await stack.tenant('gateway-owner');
  const isRead = async () => (await tenant.call('GET', '/feed/subscriptions')).status === 200;
  await eventually(isRead);
});
test.after(async () => {
  for (const connection of opened) await connection.close();
  await stack.stop();
});

const open = async (issued: IssuedCredentials): Promise<NatsConnection> => {
  const connection = await connectWith(issued);
  opened.push(connection);
  return connection;
};

const subscribe = async (body: object = {}): Promise<string> =>
  (await tenant.ok('POST', '/feed/subscriptions', { name: 'reader', ...body })).id;
const issue = (id: string, body?: object): Promise<IssuedCredentials> =>
  tenant.ok('POST', `/feed/subscriptions/${id}/credentials`, body);

let named = 0;
/** Creates a customer of a new name and gives the name. */
async function happen(): Promise<string> {
  named += 1;
  const name = `customer-${named}`;
  await tenant.ok('POST', '/customers', { external_id: name, name });
  return name;
}

const refused = 'Authorization Violation';

/** Resolves when the server has closed a connection and lets it in no more. */
async function untilThrownOut(connection: NatsConnection, issued: IssuedCredentials) {
  await eventually(() => connection.isClosed());
  const refusal = await refusalOf(issued);
  assert.match(refusal, /Authorization Violation/i, refusal);
}

/** Waits until the credentials are accepted, or are not. */
const untilAnswered = (issued: IssuedCredentials, answer: string): Promise<unknown> =>
  eventually(
    async () => new RegExp(answer, 'i').test(await refusalOf(issued)),
    () => `the gateway never answered ${answer}`,
  );

/** A change of any subscription makes the projector look at all of them at once. */
const makeItLook = () => subscribe();

async function killWithoutWarning(part: PartName, folder: string): Promise<void> {
  const pid = recordedPid(join(stack.directory, folder, 'process.json'));
  assert.ok(pid, `no process is recorded for ${part}`);
  process.kill(Number(pid), 'SIGKILL');
  await stack.parts[part].stop();
}

test('the plain client reads, confirms and follows with them and nothing else', async () => {
  const id = await subscribe();
  const issued = await issue(id);
  assert.is(issued.consumer, id);
  assert.equal(issued.urls, [stack.eventGatewayUrl]);
  const connection = await open(issued);
  const live: string[] = [];
  const own = connection.subscribe(issued.live_subject, {
    callback: (_error, message) => live.push(message.json<CustomerEvent>().customer.name),
  });
  await connection.flush();
  const reader = await connection.jetstream({ checkAPI: false }).consumers.get('BILLING', id);
  assert.is(await reader.next({ expires: 1_000 }), null, 'nothing has happened yet');

  const names = [await happen(), await happen(), await happen()];
  assert.equal(await takeNames(connection, issued, 3), names);
  await eventually(() => live.length === 3);
  assert.equal(live, names);
  own.unsubscribe();
  assert.is((await reader.info()).num_ack_pending, 0);

  const more = [await happen(), await happen()];
  const fetched = [];
  for await (const message of await reader.fetch({ max_messages: 2, expires: 60_000 })) {
    fetched.push(message.json<CustomerEvent>().customer.name);
    assert.ok(await message.ackAck());
  }
  assert.equal(fetched, more);
});

test('a kind of record alone is what its live subject carries too', async () => {
  const issued = await issue(await subscribe({ resource: 'wallet' }));
  assert.match(issued.live_subject, /\.wallet\.>$/);
  const connection = await open(issued);
  const wide = issued.live_subject.replace('.wallet.>', '.>');
  let failure = '';
  connection.subscribe(wide, {
    callback: (error) => {
      failure = error?.message ?? 'heard';
    },
  });
  await eventually(() => /Permissions Violation/i.test(failure));
});

test('a repeated request gets the same, another one new ones; those before are void at once', async () => {
  const id = await subscribe();
  const path = `/feed/subscriptions/${id}/credentials`;
  const key = { 'idempotency-key': 'gateway-credentials' };
  const first = await tenant.call('POST', path, undefined, key);
  const again = await tenant.call('POST', path, undefined, key);
  assert.is(first.status, 201);
  assert.equal(again.body, first.body);
  const former = await open(first.body);
  const before = await happen();
  assert.equal(await takeNames(former, first.body, 1), [before]);
  // It happens after the former reader has stopped: what that had been given would be given again after half a minute.
  const next = await happen();

  const second = await issue(id);
  assert.is(second.generation, 2);
  await untilThrownOut(former, first.body);
  // A repetition of the first request must not bring its credentials back.
  await tenant.call('POST', path, undefined, key);
  assert.match(await refusalOf(first.body), /Authorization Violation/i);
  assert.equal(await takeNames(await open(second), second, 1), [next], 'its place stays');
});

test('revoked, expired and deleted ones are thrown out and not let in again', async () => {
  const revoked = await subscribe();
  const [one, two] = [await issue(revoked), await issue(await subscribe())];
  const [first, second] = [await open(one), await open(two)];
  await tenant.ok('DELETE', `/feed/subscriptions/${revoked}/credentials`);
  await untilThrownOut(first, one);
  assert.is((await tenant.ok('GET', `/feed/subscriptions/${revoked}`)).credentials, undefined);
  await tenant.ok('DELETE', `/feed/subscriptions/${two.consumer}`);
  await untilThrownOut(second, two);
  assert.is(await refusalOf(await issue(revoked)), 'connected');

  const { issued: short, connection: ending } = await openShortLived();
  await eventually(() => ending.isClosed());
  // Servers count in seconds.
  await untilAnswered(short, refused);
});

/** Opens a connection that expires soon, but not before it is open: a busy machine takes longer. */
async function openShortLived() {
  const id = await subscribe();
  for (let milliseconds = 2_000; ; milliseconds *= 3) {
    const expires_at = new Date(Date.now() + milliseconds).toISOString();
    const issued = await issue(id, { expires_at }).catch(() => null);
    const connection = issued && (await open(issued).catch(() => null));
    if (connection) return { issued, connection };
  }
}

test('ten connections and no more', async () => {
  const issued = await issue(await subscribe());
  for (let count = 0; count < 10; count += 1) await open(issued);
  assert.is.not(await refusalOf(issued), 'connected');
});

test('another tenant can neither issue nor revoke them', async () => {
  const id = await subscribe();
  const issued = await issue(id);
  const stranger = await stack.tenant('gateway-stranger');
  const path = `/feed/subscriptions/${id}/credentials`;
  assert.is((await stranger.call('POST', path)).status, 404);
  assert.is((await stranger.call('DELETE', path)).status, 404);
  assert.is(await refusalOf(issued), 'connected');
});

for (const [part, folder] of [
  ['eventGateway', 'event-gateway'],
  ['nats', 'nats'],
] as const) {
  test(`a reader goes on by itself after ${part} was killed`, async () => {
    const issued = await issue(await subscribe());
    const connection = await open(issued);
    const before = await happen();
    assert.equal(await takeNames(connection, issued, 1), [before]);
    await killWithoutWarning(part, folder);
    const meanwhile = await happen();
    await stack.parts[part].start();
    const taken = await eventually(
      () => takeNames(connection, issued, 1).catch(() => false as const),
      () => 'the reader never got the next event',
    );
    // The broker may give again what was confirmed just before it was killed.
    if (taken[0] === before) assert.equal(await takeNames(connection, issued, 1), [meanwhile]);
    else assert.equal(taken, [meanwhile]);
  });
}

test('what is issued and revoked while the gateway and the projector are away holds when they return', async () => {
  const [kept, lost] = [await subscribe(), await subscribe()];
  const revoked = await issue(lost);
  await stack.parts.projector.stop();
  await stack.parts.eventGateway.stop();
  const issued = await issue(kept);
  await tenant.ok('DELETE', `/feed/subscriptions/${lost}/credentials`);
  await stack.parts.eventGateway.start();
  await stack.parts.projector.start();
  await untilAnswered(issued, 'connected');
  await untilAnswered(revoked, refused);
});

test('a gateway that has lost everything is told again', async () => {
  const id = await subscribe();
  const [issued, gone] = [await issue(id), await issue(await subscribe())];
  await stack.parts.eventGateway.stop();
  rmSync(join(stack.directory, 'event-gateway', 'accounts'), { recursive: true });
  await tenant.ok('DELETE', `/feed/subscriptions/${gone.consumer}`);
  await stack.parts.eventGateway.start();
  await makeItLook();
  await untilAnswered(issued, 'connected');
  assert.match(await refusalOf(gone), /Authorization Violation/i);
  const name = await happen();
  assert.equal(await takeNames(await open(issued), issued, 1), [name]);
});

test.run();
