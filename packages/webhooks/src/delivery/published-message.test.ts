import type { FeedEvent, FeedRequest, PublicFeed } from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findPublished } from './published-message.ts';

const test = suite('published messages');

const principal = { tenantId: 'tenant_1', environmentId: 'env_1' };
const context = { principal } as unknown as Parameters<typeof findPublished>[1];
/** The message about the event at position 33. */
const id = 'evt_0000000000011_0';

const event: FeedEvent = {
  id,
  type: 'customer.updated',
  resourceId: 'cust_1',
  occurredAt: '2026-11-01T12:00:00.000Z',
  position: '33',
  stream: 'customer-env_1.cust_1',
  revision: 4,
  body: { event_type: 'customer.updated', customer: { id: 'cust_1' }, truncated: true },
};

/** A feed with this event that notes what it is asked for. */
function feedOfEvent() {
  const asked: unknown[] = [];
  const read: PublicFeed['read'] = async (scope, request: FeedRequest) => {
    asked.push({ scope, request });
    return { events: [event], nextPosition: '33', hasMore: false };
  };
  return { feed: { read }, asked };
}

test('a message that no endpoint was to have is found where it was published', async () => {
  const { feed, asked } = feedOfEvent();
  const found = await findPublished(feed, context, id);
  assert.equal(asked, [{ scope: principal, request: { after: '32', limit: 1 } }]);
  assert.equal(found, {
    resource: {
      id,
      tenant_id: 'tenant_1',
      environment_id: 'env_1',
      event_type: 'customer.updated',
      resource_id: 'cust_1',
      occurred_at: event.occurredAt,
      created_at: event.occurredAt,
      deliveries: [],
    },
    body: JSON.stringify(event.body),
    stream: event.stream,
    revision: 4,
  });
});

test('there is none of another id, of an id of something else, and without a broker', async () => {
  const { feed, asked } = feedOfEvent();
  assert.is(await findPublished(feed, context, 'evt_0000000000011_1'), null);
  assert.is(await findPublished(feed, context, 'cust_1'), null);
  assert.is(await findPublished(null, context, id), null);
  assert.is(asked.length, 1);
});

test('a position that is refused is no message, and a broker that is away is told', async () => {
  const failing = (problem: Problem): PublicFeed => ({ read: () => Promise.reject(problem) });
  const gone = failing(new Problem('invalid_operation', 'no longer kept'));
  assert.is(await findPublished(gone, context, id), null);
  const away = failing(new Problem('service_unavailable', 'away', { retryAfterSeconds: 1 }));
  const failure = await findPublished(away, context, id).catch((error: unknown) => error);
  assert.instance(failure, Problem);
});

test.run();
