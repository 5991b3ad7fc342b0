import { createLog, type EventBroker, type EventStore } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepReaders } from './event-subscriptions.ts';

const test = suite('keeping readers');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const changes = 20;

const created = (index: number) => ({
  type: 'EventSubscriptionCreated',
  data: {
    id: `esub_${index}`,
    name: 'x',
    resource: null,
    start: { kind: 'oldest' },
    unconfirmed_maximum: 1,
  },
  metadata: {
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    schema_version: 1,
    occurred_at: '2026-01-01T00:00:00.000Z',
    actor: { type: 'system', id: 'test' },
  },
  stream: `event_subscription-${index}`,
  revision: 0,
  position: BigInt(index + 1),
});

/** A log that hands its events over one by one, with turns between them. */
const slowLog = {
  async *follow() {
    yield [{ kind: 'caught_up' }];
    for (let index = 0; index < changes; index += 1) {
      yield [{ kind: 'event', event: created(index) }];
      await turn();
      await turn();
    }
  },
} as unknown as EventStore;

test('what changes while the broker does not answer is looked at once, not for each change', async () => {
  const asked: string[] = [];
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const broker = {
    ensureReader: async ({ name }: { readonly name: string }) => {
      asked.push(name);
      await held;
      return { pending: 0, unconfirmed: 0 };
    },
  } as unknown as EventBroker;
  const log = createLog({ level: 'silent', name: 'test' });
  const keeper = keepReaders({ store: slowLog, broker, log });
  for (let turns = 0; turns < changes * 20; turns += 1) await turn();
  answer();
  for (let turns = 0; turns < changes * 20; turns += 1) await turn();
  await keeper.stop();
  assert.is(new Set(asked).size, changes);
  const first = asked.filter((name) => name === asked[0]).length;
  assert.ok(first <= 3, `asked ${first} times for one reader`);
});

test.run();
