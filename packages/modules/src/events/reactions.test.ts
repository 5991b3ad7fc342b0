import type { EventBroker, EventGateway, WantedAccess } from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import { folded, memoryWorld, testPrincipal } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accessOfSubscriptions, readersOfSubscriptions } from './reactions.ts';
import {
  createSubscription,
  deleteSubscription,
  eventSubscription,
  type SubscriptionEvent,
  type SubscriptionId,
} from './subscription.ts';

const test = suite('readers and credentials of event subscriptions');

const data = (id: string) => ({
  id: id as SubscriptionId,
  name: 'x',
  resource: null,
  start: { kind: 'oldest' as const },
  unconfirmed_maximum: 1,
});
const issued: SubscriptionEvent = {
  type: 'EventSubscriptionCredentialsIssued',
  data: { expires_at: null },
};
const revoked: SubscriptionEvent = { type: 'EventSubscriptionCredentialsRevoked', data: {} };
const deleted: SubscriptionEvent = { type: 'EventSubscriptionDeleted', data: {} };

const subscription = (id: string, ...events: readonly SubscriptionEvent[]) =>
  folded(eventSubscription, [
    { type: 'EventSubscriptionCreated', data: data(id) } as SubscriptionEvent,
    ...events,
  ]);

/** A broker that notes what it is asked, and does not know one reader. */
function brokerWithout(unknown: string) {
  const asked: string[] = [];
  const ask = async (what: string, name: string): Promise<void> => {
    asked.push(`${what} ${name}`);
    if (name === unknown) throw new Problem('service_unavailable', 'away');
  };
  const broker = {
    ensureReader: ({ name }: { readonly name: string }) => ask('ensure', name),
    removeReader: (name: string) => ask('remove', name),
  } as unknown as EventBroker;
  return { asked, broker };
}

test('one reader that cannot be kept keeps no other from being looked at', async () => {
  const { asked, broker } = brokerWithout('a');
  const { reconciliation } = readersOfSubscriptions(broker);
  const all = [subscription('a'), subscription('b'), subscription('c', deleted)];
  for (const round of [1, 2]) {
    const problem = await reconciliation?.run(all).catch((error: Problem) => error.code);
    assert.is(problem, 'service_unavailable', `round ${round}`);
  }
  const first = ['ensure a', 'ensure b', 'remove c'];
  assert.equal(asked, [...first, 'ensure a', 'ensure b'], 'what is gone is removed once');
});

test('a request makes and removes the reader at once, and succeeds without the broker', async () => {
  const { asked, broker } = brokerWithout('esub_2');
  const readers = readersOfSubscriptions(broker);
  const context = memoryWorld([eventSubscription]).request(testPrincipal());
  for (const id of ['esub_1', 'esub_2'] as SubscriptionId[]) {
    const made = await context.execute(eventSubscription, id, createSubscription(data(id)));
    await context.carryOut(readers, id, made);
    const gone = await context.execute(eventSubscription, id, deleteSubscription(id));
    await context.carryOut(readers, id, gone);
    // A late repetition of the first finds the subscription deleted.
    await context.carryOut(readers, id, made);
  }
  const steps = (id: string) => [`ensure ${id}`, `remove ${id}`, `remove ${id}`];
  assert.equal(asked, [...steps('esub_1'), ...steps('esub_2')]);
});

test('those with credentials are kept, revoked ones without any; deleted ones are removed', async () => {
  const told: WantedAccess[] = [];
  const gateway = {
    reconcile: async (wanted: WantedAccess) => void told.push(wanted),
  } as unknown as EventGateway;
  await accessOfSubscriptions(gateway).reconciliation?.run([
    subscription('never'),
    subscription('twice', issued, issued),
    subscription('revoked', issued, revoked),
    subscription('deleted', issued, deleted),
    subscription('deletedWithout', deleted),
  ]);
  const [{ kept = [], removed = [] } = {}] = told;
  assert.equal(
    kept.map(({ name, credentials }) => [name, credentials?.generation ?? null]),
    [
      ['twice', 2],
      ['revoked', null],
    ],
  );
  assert.equal(
    removed.map(({ name }) => name),
    ['deleted'],
  );
});

test('what changes while the gateway is told is told after it', async () => {
  const context = memoryWorld([eventSubscription]).request(testPrincipal());
  const id = 'esub_1' as SubscriptionId;
  await context.execute(eventSubscription, id, createSubscription(data(id)));
  const told: string[] = [];
  const access = accessOfSubscriptions({
    keepAccess: async () => {
      told.push('keep');
      await context.execute(eventSubscription, id, deleteSubscription(id));
    },
    removeAccess: async () => void told.push('remove'),
  } as unknown as EventGateway);
  const outcome = await context.execute(eventSubscription, id, () => [issued]);
  await context.carryOut(access, id, outcome);
  assert.equal(told, ['keep', 'remove']);
});

test.run();
