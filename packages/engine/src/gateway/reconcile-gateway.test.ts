import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReaderAccess } from '../define/event-gateway.ts';
import { accountClaims, serviceClaims } from './claims.ts';
import { gatewayKeys } from './keys.ts';
import { reconcileGateway, rememberOrder } from './reconcile-gateway.ts';

const test = suite('reconciling the event gateway');

const keys = gatewayKeys(new Uint8Array(32).fill(1));
const agoOf = (seconds: number): string => new Date(Date.now() - seconds * 1_000).toISOString();

const accessOf = (name: string, generation: number, secondsAgo: number): ReaderAccess => ({
  kind: 'reader',
  name,
  scope: { tenantId: 'tenant_1', environmentId: 'env_1' },
  resource: null,
  credentials: { generation, issuedAt: agoOf(secondsAgo), expiresAt: null },
  changedAt: agoOf(secondsAgo),
});
const accountOf = (access: ReaderAccess): string => keys.account(access).publicKey;

/** A gateway in memory that counts what it is asked. */
function gatewayWith(...accesses: readonly ReaderAccess[]) {
  const kept = new Map(accesses.map((each) => [accountOf(each), accountClaims(keys, each)]));
  kept.set(keys.service.publicKey, serviceClaims(keys));
  const counts = { lookUp: 0, update: 0, remove: 0 };
  const subjectOf = (claims: string): string =>
    JSON.parse(Buffer.from(claims.split('.')[1] ?? '', 'base64url').toString('utf8')).sub;
  return {
    kept,
    counts,
    list: async () => new Set(kept.keys()),
    lookUp: async (account: string) => {
      counts.lookUp += 1;
      return kept.get(account) ?? '';
    },
    update: async (claims: string) => {
      counts.update += 1;
      kept.set(subjectOf(claims), claims);
    },
    remove: async () => {
      counts.remove += 1;
    },
  };
}

test('what is missing is told, and what is there is looked at once', async () => {
  const [there, missing] = [accessOf('esub_1', 1, 600), accessOf('esub_2', 1, 600)];
  const gateway = gatewayWith(there);
  const inOrder = rememberOrder();
  const wanted = { kept: [there, missing], removed: [] };
  await reconcileGateway(keys, gateway, inOrder, wanted);
  assert.equal(gateway.counts, { lookUp: 2, update: 1, remove: 0 });
  assert.is(gateway.kept.get(accountOf(missing)), accountClaims(keys, missing));
  await reconcileGateway(keys, gateway, inOrder, wanted);
  assert.equal(gateway.counts, { lookUp: 2, update: 1, remove: 0 });
  gateway.kept.delete(accountOf(there));
  await reconcileGateway(keys, gateway, inOrder, wanted);
  assert.equal(
    gateway.counts,
    { lookUp: 2, update: 2, remove: 0 },
    'what it has lost is told again',
  );
});

test('many are all looked at', async () => {
  const many = Array.from({ length: 45 }, (_, index) => accessOf(`esub_${index}`, 1, 600));
  const gateway = gatewayWith(...many.slice(0, 3));
  await reconcileGateway(keys, gateway, rememberOrder(), { kept: many, removed: [] });
  assert.equal(gateway.counts, { lookUp: 4, update: 42, remove: 0 });
  assert.is(gateway.kept.size, many.length + 1);
});

test('what is older than the log, or of another one, is replaced', async () => {
  for (const there of [accessOf('esub_1', 1, 600), accessOf('esub_1', 3, 100)]) {
    const gateway = gatewayWith(there);
    const latest = accessOf('esub_1', 2, 300);
    await reconcileGateway(keys, gateway, rememberOrder(), { kept: [latest], removed: [] });
    assert.is(gateway.kept.get(accountOf(latest)), accountClaims(keys, latest));
  }
});

test('what was told just now by somebody who is ahead stays, and is looked at again', async () => {
  const told = accessOf('esub_1', 2, 1);
  const gateway = gatewayWith(told);
  const inOrder = rememberOrder();
  const behind = { kept: [accessOf('esub_1', 1, 600)], removed: [] };
  await reconcileGateway(keys, gateway, inOrder, behind);
  await reconcileGateway(keys, gateway, inOrder, behind);
  assert.equal(gateway.counts, { lookUp: 3, update: 0, remove: 0 });
  assert.is(gateway.kept.get(accountOf(told)), accountClaims(keys, told));
});

test('what is removed is removed where it is', async () => {
  const [there, gone] = [accessOf('esub_1', 1, 600), accessOf('esub_2', 1, 600)];
  const gateway = gatewayWith(there);
  await reconcileGateway(keys, gateway, rememberOrder(), { kept: [], removed: [there, gone] });
  assert.equal(gateway.counts, { lookUp: 1, update: 0, remove: 1 });
});

test.run();
