import {
  createLog,
  type EventGateway,
  type EventStore,
  type WantedAccess,
} from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepAccess } from './event-access.ts';

const test = suite('keeping credentials');

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Story = readonly (readonly [type: string, data?: object])[];

const created = (id: string) => ({
  id,
  name: 'x',
  resource: null,
  start: { kind: 'oldest' },
  unconfirmed_maximum: 1,
});

/** A log that hands over the events of these subscriptions one by one, with turns between them. */
function logOf(stories: Readonly<Record<string, Story>>): EventStore {
  let position = 0n;
  const events = Object.entries(stories).flatMap(([id, story]) =>
    [['EventSubscriptionCreated', created(id)] as const, ...story].map(
      ([type, data = {}], revision) => {
        position += 1n;
        return { type, data, stream: `event_subscription-${id}`, revision, position };
      },
    ),
  );
  const metadata = {
    tenant_id: 'tenant_01',
    environment_id: 'env_01',
    schema_version: 1,
    occurred_at: '2026-01-01T00:00:00.000Z',
    actor: { type: 'system', id: 'test' },
  };
  return {
    async *follow() {
      yield [{ kind: 'caught_up' }];
      for (const event of events) {
        yield [{ kind: 'event', event: { ...event, metadata } }];
        await turn();
        await turn();
      }
    },
  } as unknown as EventStore;
}

const issued = ['EventSubscriptionCredentialsIssued', { expires_at: null }] as const;
const log = createLog({ level: 'silent', name: 'test' });

/** Returns what a gateway was told last, and how often; it answers when `answer` does. */
async function told(stories: Readonly<Record<string, Story>>, answer: () => Promise<void>) {
  const all: WantedAccess[] = [];
  const gateway = {
    reconcile: async (wanted: WantedAccess) => {
      all.push(wanted);
      await answer();
    },
  } as unknown as EventGateway;
  const keeper = keepAccess({ store: logOf(stories), gateway, log });
  for (let turns = 0; turns < 200; turns += 1) await turn();
  return { keeper, all };
}

test('those with credentials are kept, revoked ones without any; deleted ones are removed', async () => {
  const { keeper, all } = await told(
    {
      never: [],
      twice: [issued, issued],
      revoked: [issued, ['EventSubscriptionCredentialsRevoked']],
      deleted: [issued, ['EventSubscriptionDeleted']],
      deletedWithout: [['EventSubscriptionDeleted']],
    },
    async () => undefined,
  );
  await keeper.stop();
  const { kept = [], removed = [] } = all.at(-1) ?? {};
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

test('what changes while the gateway does not answer is looked at once more, and a failure ends nothing', async () => {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const stories = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`esub_${index}`, [issued]]),
  );
  const { keeper, all } = await told(stories, async () => {
    await held;
    throw new Error('away');
  });
  assert.is(all.length, 1);
  release();
  for (let turns = 0; turns < 20; turns += 1) await turn();
  assert.is(all.length, 2);
  assert.is(all.at(-1)?.kept.length, 20);
  await keeper.stop();
});

test.run();
