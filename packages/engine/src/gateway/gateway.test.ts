import { type Account, decode, type User } from '@nats-io/jwt';
import { fromSeed, Prefix } from 'nkeys.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReaderAccess, SenderAccess } from '../define/event-gateway.ts';
import { accessCredentials, accountClaims, serviceClaims } from './claims.ts';
import { gatewayConfiguration } from './configuration.ts';
import { gatewayKeys, nkeyFrom } from './keys.ts';
import { senderOf, sentSubject } from './sent-subject.ts';

const test = suite('event gateway');

const secret = Uint8Array.from({ length: 32 }, (_, index) => (index * 7) % 256);

test("keys and signatures are those of the makers' own library", () => {
  const user = nkeyFrom(Prefix.User, secret);
  assert.is(user.publicKey, 'UBGQ5Q5A2A76774TVG6M4KREWQDNI32EV37R654H3LW3CPFK7JACYEW2');
  assert.is(user.seed, 'SUAAABYOCUOCGKRRHA7UMTKULNRGS4DXP2CYZE42UGUK7NV5YTF5FWIXJQ');
  const made = fromSeed(Buffer.from(user.seed));
  assert.is(made.getPublicKey(), user.publicKey);
  assert.is(
    user.sign('text'),
    '_pLT5zJgYqQCosJ-EQw1xAr_wF5sxTX9DwOLojb6lQKPJ3lTYyjGOTNYZS9QV_9apx3l3dPpb0QZaUYj6xjfCw',
  );
  assert.is(Buffer.from(made.sign(Buffer.from('text'))).toString('base64url'), user.sign('text'));
  const account = nkeyFrom(Prefix.Account, secret);
  assert.is(account.publicKey, 'ABGQ5Q5A2A76774TVG6M4KREWQDNI32EV37R654H3LW3CPFK7JACZAFF');
  assert.is(account.seed, 'SAAAABYOCUOCGKRRHA7UMTKULNRGS4DXP2CYZE42UGUK7NV5YTF5FWPEQA');
  const operator = nkeyFrom(Prefix.Operator, secret);
  assert.is(operator.publicKey, 'OBGQ5Q5A2A76774TVG6M4KREWQDNI32EV37R654H3LW3CPFK7JACZWJD');
  assert.is(operator.seed, 'SOAAABYOCUOCGKRRHA7UMTKULNRGS4DXP2CYZE42UGUK7NV5YTF5FWNI6I');
  assert.throws(() => nkeyFrom(Prefix.User, secret.subarray(1)), /seed/);
});

const keys = gatewayKeys(secret);
const issued = { generation: 1, issuedAt: '2026-01-01T00:00:00.000Z', expiresAt: null };
const access: ReaderAccess & { credentials: typeof issued } = {
  kind: 'reader',
  name: 'esub_1',
  scope: { tenantId: 'tenant_1', environmentId: 'env_1' },
  resource: null,
  credentials: issued,
  changedAt: issued.issuedAt,
};

test('an account contains its own consumer and live subjects, and offers nothing', () => {
  const { iss, nats } = decode<Account>(accountClaims(keys, access));
  assert.is(iss, keys.operator.publicKey);
  assert.equal(
    nats.imports?.map(({ subject }) => subject),
    [
      '$JS.counterfoil.API.CONSUMER.MSG.NEXT.BILLING.esub_1',
      '$JS.counterfoil.API.CONSUMER.INFO.BILLING.esub_1',
      '$JS.ACK.BILLING.esub_1.>',
      'live.billing.v1.tenant_1.env_1.>',
    ],
  );
  assert.ok(nats.imports?.every(({ account }) => account === keys.service.publicKey));
  assert.is(nats.exports, undefined);
  const wallets = decode<Account>(accountClaims(keys, { ...access, resource: 'wallet' }));
  assert.is(wallets.nats.imports?.at(-1)?.subject, 'live.billing.v1.tenant_1.env_1.wallet.>');
});

const sender: SenderAccess = {
  kind: 'sender',
  name: 'ucred_1',
  scope: access.scope,
  intake: 'usage',
  keyId: 'secret_1',
  credentials: issued,
  changedAt: issued.issuedAt,
};

test('the account of a sender contains one subject, which says at the broker who sends', () => {
  const { nats } = decode<Account>(accountClaims(keys, sender));
  const imports = nats.imports?.map(({ subject, local_subject }) => [local_subject, subject]);
  assert.equal(imports, [['usage.v1.tenant_1.env_1', sentSubject(keys, sender)]]);
  assert.is(nats.exports, undefined);
  const text = accessCredentials(keys, { ...sender, credentials: issued });
  const user = decode<User>(text.split('\n')[1] ?? '').nats;
  assert.equal(user.pub, { allow: ['usage.v1.tenant_1.env_1'] });
  assert.equal(user.sub, { allow: ['_INBOX.>'] });
});

test('a subject names its sender to those who have the secret, and only one that they have made', () => {
  const subject = sentSubject(keys, sender);
  const named = {
    intake: 'usage',
    tenantId: 'tenant_1',
    environmentId: 'env_1',
    keyId: 'secret_1',
  };
  assert.equal(senderOf(gatewayKeys(secret), subject), named);
  const others = [
    ...subject.split('.').map((_, place) => subject.split('.').with(place, 'other').join('.')),
    ...['sent', '', `${subject}.x`, subject.slice(0, -1)],
  ];
  for (const other of others.slice(1)) assert.is(senderOf(keys, other), null, other);
  assert.is(senderOf(gatewayKeys(secret.map((byte) => byte + 1)), subject), null);
});

test('one generation of credentials is accepted at a time, and none when they are revoked', () => {
  const signersOf = (credentials: ReaderAccess['credentials']) =>
    decode<Account>(accountClaims(keys, { ...access, credentials })).nats.signing_keys;
  assert.equal(signersOf(issued), [keys.signer(access, 1).publicKey]);
  assert.equal(signersOf({ ...issued, generation: 2 }), [keys.signer(access, 2).publicKey]);
  assert.equal(signersOf(null), []);
});

test('credentials are of the account, end when they should, and are the same again', () => {
  const text = accessCredentials(keys, access);
  assert.is(accessCredentials(gatewayKeys(secret), access), text);
  const claims = decode<User>(text.split('\n')[1] ?? '');
  assert.is(claims.iss, keys.signer(access, 1).publicKey);
  assert.is(claims.sub, keys.user(access, 1).publicKey);
  assert.is(claims.exp, undefined);
  assert.ok(text.includes(keys.user(access, 1).seed));
  const ending = { ...issued, expiresAt: '2026-01-02T00:00:00.000Z' };
  const second = accessCredentials(keys, { ...access, credentials: ending });
  assert.is(decode<User>(second.split('\n')[1] ?? '').exp, Date.UTC(2026, 0, 2) / 1000);
});

test('no two readers share a key, and no two purposes do', () => {
  const others: ReaderAccess[] = [
    access,
    { ...access, name: 'esub_2' },
    { ...access, scope: { ...access.scope, environmentId: 'env_2' } },
    { ...access, scope: { ...access.scope, tenantId: 'tenant_2' } },
  ];
  const all = others.flatMap((each) => [
    keys.account(each).publicKey,
    ...[1, 2].flatMap((generation) => [
      keys.signer(each, generation).publicKey,
      keys.user(each, generation).publicKey,
    ]),
  ]);
  all.push(keys.operator.publicKey, keys.system.publicKey, keys.service.publicKey);
  assert.is(new Set(all.map((key) => key.slice(1))).size, all.length);
});

test('the configuration names no secret key', () => {
  const text = gatewayConfiguration(keys, {
    listen: '127.0.0.1:1',
    directory: 'accounts',
    leafUrl: 'nats-leaf://127.0.0.1:2',
  });
  for (const { seed } of [keys.operator, keys.system, keys.systemUser, keys.service]) {
    assert.not.ok(text.includes(seed));
  }
  assert.ok(text.includes(serviceClaims(keys)));
});

test.run();
