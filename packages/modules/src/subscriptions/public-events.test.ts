import { published } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { subscriptionPublicEvents } from './public-events.ts';
import { subscription } from './subscription.ts';
import { day, subscriptionWorld } from './test-subscription-world.ts';

const test = suite('subscription publications');

/** The types of all messages about a subscription, in their order, each looked at for its declared form. */
async function told({ request }: Awaited<ReturnType<typeof subscriptionWorld>>, id: string) {
  const messages = await published(request(), subscriptionPublicEvents, subscription, id);
  for (const { type, body } of messages) {
    const declared = subscriptionPublicEvents.types[type];
    assert.ok(declared, type);
    assert.equal(declared.body.parse(body), body, type);
  }
  return messages.map(({ type }) => type.slice('subscription.'.length));
}

test('a subscription is told as it begins, is paused, goes on, is about to renew and ends', async () => {
  const world = await subscriptionWorld();
  const { create, pause, resume, pass, cancel } = world;
  const { id } = await create();
  await pass(day(1, 5));
  await pause(id);
  await pass(day(1, 10));
  await resume(id);
  await pass(day(2, 1));
  await cancel(id, { cancellation_type: 'immediate' });
  assert.equal(await told(world, id), [
    'created',
    ...['updated', 'updated', 'paused', 'updated', 'resumed'],
    'renewal.due',
    ...['updated', 'cancelled'],
  ]);
});

test('a draft is told as one, and as active when it is activated', async () => {
  const world = await subscriptionWorld();
  const { create, activate } = world;
  const { id } = await create({ subscription_status: 'draft' });
  await activate(id);
  assert.equal(await told(world, id), ['draft.created', 'activated', 'updated']);
});

test.run();
