import { suite } from 'uvu';
import { proveKills } from './test-kills.ts';
import { type Receiver, startReceiver } from './test-receiver.ts';
import { World } from './test-world.ts';

const test = suite<{ world: World; receiver: Receiver }>('kills');

test.before(async (context) => {
  context.world = await World.start(true);
  context.receiver = await startReceiver();
});
test.after(async ({ world, receiver }) => {
  receiver.close();
  await world.stop();
});

test('workers, PostgreSQL and NATS are killed: nothing is lost, few come twice, all in order', async ({
  world,
  receiver,
}) => {
  await proveKills(world, receiver, {
    victims: ['worker', 'postgres', 'nats', 'worker'],
    rounds: 24,
  });
});

test.run();
