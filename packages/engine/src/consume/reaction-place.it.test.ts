import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWorld, statement, type TestWorld } from '../projection/test-world.ts';
import { reactionPlaces } from './reaction-place.ts';

const test = suite('places of reactions');

let world: TestWorld;

test.before(async () => {
  world = await startWorld();
});
test.after(() => world.close());

const at = (position: bigint) => ({ position, heldBack: new Map() });

test('places that are saved together are written together, each as it was last', async () => {
  const database = await world.database();
  const places = reactionPlaces(database);
  const held = { position: 9n, heldBack: new Map([['order-1', { revision: 3, error: 'no box' }]]) };
  await Promise.all([
    places.save('packing', at(1n)),
    places.save('billing', at(5n)),
    places.save('packing', held),
  ]);
  assert.equal(await places.load('packing'), held);
  assert.equal(await places.load('billing'), at(5n));
  assert.is(await places.load('other'), null);
  const written = 'select count(distinct xmin::text)::int as times from counterfoil.reaction';
  assert.equal(await statement(database, written), [{ times: 1 }]);
  await places.close();
});

test('a place that could not be written is not taken to be, and is written the next time', async () => {
  const database = await world.database();
  const places = reactionPlaces(database);
  const rename = (from: string, to: string) =>
    statement(database, `alter table counterfoil.${from} rename to ${to}`);
  await rename('reaction', 'reaction_away');
  const saves = [places.save('packing', at(1n)), places.save('billing', at(2n))];
  const ends = await Promise.allSettled(saves);
  assert.equal(
    ends.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  await rename('reaction_away', 'reaction');
  await places.save('billing', at(3n));
  assert.equal(await places.load('packing'), at(1n));
  assert.equal(await places.load('billing'), at(3n));
  await places.close();
});

test.run();
