import { randomInt } from 'node:crypto';
import { suite } from 'uvu';
import { proveKills, type Victim } from './test-kills.ts';
import { type Receiver, startReceiver } from './test-receiver.ts';
import { World } from './test-world.ts';

/** The proof of kills.it.test.ts at length. */
const test = suite<{ world: World; receiver: Receiver }>('kills, at length');

test.before(async (context) => {
  context.world = await World.start(true);
  context.receiver = await startReceiver();
});
test.after(async ({ world, receiver }) => {
  receiver.close();
  await world.stop();
});

const counts: Readonly<Record<Victim, number>> = { worker: 14, postgres: 6, nats: 6 };

/** All victims, in an order that is drawn again each time. */
function drawOrder(): readonly Victim[] {
  const left = Object.entries(counts).flatMap(([victim, count]) =>
    Array.from({ length: count }, () => victim as Victim),
  );
  const order: Victim[] = [];
  while (left.length > 0) order.push(...left.splice(randomInt(left.length), 1));
  return order;
}

test('workers, PostgreSQL and NATS are killed: nothing is lost, few come twice, all in order', async ({
  world,
  receiver,
}) => {
  const victims = drawOrder();
  const { expected, duplicates, bound } = await proveKills(world, receiver, {
    victims,
    rounds: 120,
  });
  console.log(
    `${victims.length} kills (${counts.worker} worker, ${counts.postgres} PostgreSQL, ` +
      `${counts.nats} NATS): ${expected} deliveries, none lost, none out of order, ` +
      `${duplicates} came twice, of at most ${bound}`,
  );
});

test.run();
