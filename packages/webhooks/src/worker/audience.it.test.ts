import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Receiver, startReceiver } from './test-receiver.ts';
import { eventually, World } from './test-world.ts';

const test = suite<{ world: World; receiver: Receiver }>('audience');

test.before(async (context) => {
  context.world = await World.start();
  context.receiver = await startReceiver();
});
test.after(async ({ world, receiver }) => {
  receiver.close();
  await world.stop();
});

const environments = ['env_a', 'env_b', 'env_c', 'env_d'] as const;

/** The messages that became deliveries of an endpoint, in the order of the deliveries. */
const deliveriesOf = async (world: World, endpointId: string): Promise<readonly string[]> => {
  const rows = await world.query<{ event_id: string }>(
    'select event_id from counterfoil.webhook_deliveries where endpoint_id = $1 order by id',
    [endpointId],
  );
  return rows.map(({ event_id }) => event_id);
};

const readUpTo = async (world: World): Promise<bigint> => {
  const [row] = await world.query<{ position: string }>(
    'select position::text from counterfoil.webhook_position',
  );
  return BigInt(row?.position ?? -1);
};

/** Publishes messages of every environment in turns, and notes the ids and positions of each. */
function publisherOf(world: World) {
  const published = new Map<string, { id: string; position: bigint }[]>();
  let position = 0n;
  return {
    published,
    position: () => position,
    publish: async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        for (const environment of environments) {
          position += 10n;
          const id = await world.publish({ environment, position });
          const known = published.get(environment) ?? [];
          published.set(environment, [...known, { id, position }]);
        }
      }
    },
  };
}

test('an endpoint gets what happens after its creation, however many environments had none before', async ({
  world,
  receiver,
}) => {
  world.startWorker();
  const { published, position, publish } = publisherOf(world);
  const created: { environment: string; id: string; after: bigint }[] = [];
  await publish(20);
  // Nobody wants any of them, and all have been passed.
  await eventually('passed', async () => (await readUpTo(world)) === position());
  for (const environment of [...environments.slice(0, 3), 'env_b', 'env_d']) {
    const createdPosition = position();
    const url = `${receiver.url}/${environment}`;
    const endpoint = { environment_id: environment, url, createdPosition } as const;
    const { id } = await world.addEndpoint({ ...endpoint, order_mode: 'unordered' });
    created.push({ environment, id, after: createdPosition });
    await publish(8);
  }
  await eventually('all read', async () => (await readUpTo(world)) === position());
  for (const { environment, id, after } of created) {
    const wanted = published.get(environment)?.filter((message) => message.position > after) ?? [];
    assert.equal(
      await deliveriesOf(world, id),
      wanted.map((message) => message.id),
      environment,
    );
  }
});

test('messages of environments without endpoints are not kept, and passed all the same', async ({
  world,
}) => {
  const before = await readUpTo(world);
  const id = await world.publish({ environment: 'env_nobody', position: before + 10n });
  await eventually('passed', async () => (await readUpTo(world)) === before + 10n);
  const kept = await world.query('select 1 from counterfoil.webhook_messages where event_id = $1', [
    id,
  ]);
  assert.is(kept.length, 0);
});

test('an environment whose endpoints are deleted is read for no more, and again with a new one', async ({
  world,
  receiver,
}) => {
  const environment = 'env_again';
  const url = receiver.url;
  const first = await world.addEndpoint({ environment_id: environment, url });
  const start = await readUpTo(world);
  const one = await world.publish({ environment, position: start + 10n });
  await eventually('first', async () => (await deliveriesOf(world, first.id)).length === 1);
  await world.changeEndpoint(first.id, { status: 'deleted' });
  await world.publish({ environment, position: start + 20n });
  await eventually('passed', async () => (await readUpTo(world)) === start + 20n);
  const createdPosition = start + 20n;
  const second = await world.addEndpoint({ environment_id: environment, url, createdPosition });
  const three = await world.publish({ environment, position: start + 30n });
  await eventually('second', async () => (await deliveriesOf(world, second.id)).length > 0);
  assert.equal(await deliveriesOf(world, first.id), [one]);
  assert.equal(await deliveriesOf(world, second.id), [three]);
});

test.run();
