import { connect, type NatsConnection } from 'nats';
import { Prefix } from 'nkeys.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { credentialsText, encodeClaims } from '../../../engine/src/gateway/claims.ts';
import { gatewayKeys, nkeyFrom } from '../../../engine/src/gateway/keys.ts';

import { secretsFrom } from '../../../modules/src/secrets.ts';
import { eventually } from '../eventually.ts';
import { type Stack, startStack, type TestTenant } from '../stack.ts';
import { type Attack, attacksOn, attempt } from './gateway-attacks.ts';
import { connectWith, type IssuedCredentials, refusalOf, takeNames } from './gateway-clients.ts';
import { type Harm, type Watch, watch } from './gateway-harm.ts';
import { sendUsage, type UsageCredentials } from './usage-senders.ts';

const test = suite('isolation at the event gateway');

const secret = 'secret-of-the-other';
const events = 120;
let stack: Stack;
let attacker: TestTenant;
let other: TestTenant;
let own: IssuedCredentials;
let others: IssuedCredentials;
let ownSender: UsageCredentials;
let othersSender: UsageCredentials;
const opened: NatsConnection[] = [];
const keep = async (connecting: Promise<NatsConnection>): Promise<NatsConnection> => {
  const connection = await connecting;
  opened.push(connection);
  return connection;
};
const atBroker = () => keep(connect({ servers: new URL(stack.natsUrl).host }));

test.before(async () => {
  stack = await startStack();
  [attacker, other] = [await stack.tenant('attacker'), await stack.tenant('other')];
  const position = await customers(attacker, 'own', events);
  await customers(other, secret, 3);
  await eventually(async () => {
    const { items } = await attacker.ok('GET', `/feed?after_position=${BigInt(position) - 1n}`);
    return items.length > 0;
  });
  [own, others] = [await reader(attacker), await reader(other)];
  [ownSender, othersSender] = [await sender(attacker), await sender(other)];
});
test.after(async () => {
  for (const connection of opened) await connection.close();
  await stack.stop();
});

async function customers(tenant: TestTenant, name: string, count: number): Promise<string> {
  let position = '';
  for (let index = 0; index < count; index += 1) {
    const body = { external_id: `${name}-${index}`, name: `${name}-${index}` };
    const { headers } = await tenant.call('POST', '/customers', body);
    position = headers.get('counterfoil-position') ?? '';
  }
  return position;
}

async function reader(tenant: TestTenant): Promise<IssuedCredentials> {
  const body = { name: 'reader', from: 'oldest' };
  const { id } = await tenant.ok('POST', '/feed/subscriptions', body);
  return await tenant.ok('POST', `/feed/subscriptions/${id}/credentials`);
}

const sender = (tenant: TestTenant): Promise<UsageCredentials> =>
  tenant.ok('POST', '/usage/credentials', { name: 'sender' });

const prefixOf = ({ tenantId, environmentId }: TestTenant) =>
  `billing.v1.${tenantId}.${environmentId}`;
const targetOf = (tenant: TestTenant, { consumer }: IssuedCredentials) => ({
  consumer,
  prefix: prefixOf(tenant),
  sending: prefixOf(tenant).replace('billing', 'usage'),
});
const attacks = () => attacksOn(targetOf(attacker, own), targetOf(other, others));

const watchOther = async (victim: NatsConnection, sendsAs: string | null = null): Promise<Watch> =>
  watch({
    broker: await atBroker(),
    victim,
    victimConsumer: others.consumer,
    victimSubjects: ['_INBOX.victim.>', others.live_subject],
    secret,
    sendsAs,
  });

/** The way of a reader to hear of something that takes the same way as what it has sent. */
async function askingForState(connection: NatsConnection): Promise<() => Promise<unknown>> {
  const manager = await connection.jetstreamManager({ checkAPI: false });
  return () => manager.consumers.info('BILLING', own.consumer);
}

/** Tries one after the other; a question that takes the same way tells when it has arrived. */
async function tryAll(
  connection: NatsConnection,
  { hear, harm }: Watch,
  settled: (() => Promise<unknown>) | null = null,
) {
  const ask = settled ?? (await askingForState(connection));
  const done: { readonly attack: Attack; readonly harm: readonly Harm[] }[] = [];
  for (const attack of attacks()) {
    attempt(connection, attack, hear);
    await ask().catch(() => null);
    const caused = await harm();
    if (caused.length > 0) done.push({ attack, harm: caused });
  }
  return done;
}

/** Tries all with credentials to send usage. Their own subject is the one under which it may come to the broker. */
async function trySending(connection: NatsConnection) {
  const { subject } = ownSender;
  const seen = await watchOther(await keep(connectWith(others)), `sent.${subject}.`);
  return tryAll(connection, seen, () => sendUsage(connection, ownSender, {}));
}

const keysOf = () => gatewayKeys(secretsFrom(stack.secretKey).gatewaySeed);
const accessOf = (tenant: TestTenant, name: string) => ({
  name,
  scope: { tenantId: tenant.tenantId, environmentId: tenant.environmentId },
});

/** Credentials of an account that lack all permissions within it: what keeps them in is the account. */
function withoutPermissions<Issued extends { readonly urls: readonly string[] }>(
  tenant: TestTenant,
  issued: Issued,
  name: string,
): Issued & { readonly credentials: string } {
  const keys = keysOf();
  const access = accessOf(tenant, name);
  const user = keys.user(access, 99);
  const claims = userClaims(user.publicKey, keys.account(access).publicKey);
  return {
    ...issued,
    credentials: credentialsText(user, encodeClaims(keys.signer(access, 1), claims)),
  };
}

const userClaims = (user: string, account: string) => ({
  sub: user,
  name: 'forged',
  iat: Math.floor(Date.now() / 1000),
  nats: { type: 'user', issuer_account: account, subs: -1, data: -1, payload: -1 },
});

test('no attack with issued credentials reads or changes anything of another', async () => {
  const seen = await watchOther(await keep(connectWith(others)));
  assert.equal(await tryAll(await keep(connectWith(own)), seen), []);
});

test('the account alone keeps everything in, whatever the permissions say', async () => {
  const seen = await watchOther(await keep(connectWith(others)));
  const unbound = await keep(connectWith(withoutPermissions(attacker, own, own.consumer)));
  assert.equal(await tryAll(unbound, seen), []);
});

test('no attack with credentials to send usage does either, nor sends anything for another', async () => {
  assert.equal(await trySending(await keep(connectWith(ownSender))), []);
  const unbound = withoutPermissions(attacker, ownSender, ownSender.id);
  assert.equal(await trySending(await keep(connectWith(unbound))), []);
});

test('credentials to send usage are refused everywhere but at their subject', async () => {
  const failures: string[] = [];
  const connection = await keep(connectWith(ownSender));
  void (async () => {
    for await (const { data } of connection.status()) failures.push(String(data));
  })();
  const elsewhere = [othersSender.subject, 'usage.v1.x.y', '$JS.API.INFO', '$SYS.REQ.SERVER.PING'];
  for (const subject of elsewhere) connection.publish(subject, '{}');
  for (const subject of ['usage.>', '>', '$SYS.>']) connection.subscribe(subject, ignored);
  await eventually(() => failures.length === 7);
  assert.ok(
    failures.every((failure) => /PERMISSIONS_VIOLATION/i.test(failure)),
    failures.join(),
  );
});

const ignored = { callback: () => undefined };

test('a client that signs for itself, or for another, is not let in', async () => {
  const keys = keysOf();
  const mine = accessOf(attacker, own.consumer);
  const theirs = accessOf(other, others.consumer);
  const user = keys.user(mine, 1);
  const invented = nkeyFrom(Prefix.Account, new Uint8Array(32).fill(7));
  const [account, victim] = [keys.account(mine).publicKey, keys.account(theirs).publicKey];
  const signedBy = (signer: typeof user, of: string) =>
    credentialsText(user, encodeClaims(signer, userClaims(user.publicKey, of)));
  const forgeries = [
    signedBy(user, account),
    signedBy(user, victim),
    signedBy(invented, account),
    signedBy(invented, victim),
    signedBy(invented, keys.service.publicKey),
    signedBy(invented, keys.system.publicKey),
    // The signer of one account, if it ever got out, is none of another.
    signedBy(keys.signer(mine, 1), victim),
    signedBy(keys.signer(mine, 1), keys.system.publicKey),
    signedBy(keys.signer(mine, 2), account),
    // The claims of another, as they may be seen on their way, without its key.
    others.credentials.replace(/^SU.+$/m, user.seed),
  ];
  for (const [index, credentials] of forgeries.entries()) {
    const refusal = await refusalOf({ urls: own.urls, credentials });
    assert.match(refusal, /Authorization Violation/i, `forgery ${index}`);
  }
  const anonymous = await connect({ servers: new URL(own.urls[0] ?? '').host }).then(
    () => 'connected',
    (error: Error) => error.message,
  );
  assert.match(anonymous, /Authorization Violation/i);
  assert.is(await refusalOf(own), 'connected');
});

test('after all that, everybody still reads what is their own', async () => {
  const names = await takeNames(await keep(connectWith(others)), others, 3);
  assert.equal(
    names,
    [0, 1, 2].map((index) => `${secret}-${index}`),
  );
  const rest = await takeNames(await keep(connectWith(own)), own, 1);
  assert.match(rest[0] ?? '', /^own-/);
});

test('the same attacks at the broker itself do all the harm that is looked for', async () => {
  const seen = await watchOther(await atBroker());
  const done = await tryAll(await atBroker(), seen);
  const kinds: Harm[] = [
    'the stream changed',
    'the consumer of another changed',
    'there is a consumer that sends where it was told to',
    'another heard what nobody of its own said',
    'what is not its own was heard',
    'usage was sent for another',
  ];
  assert.equal(new Set(done.flatMap(({ harm }) => harm)), new Set(kinds));
});

test.run();
