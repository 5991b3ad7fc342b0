import type { PublicEvents, RequestContext } from '@counterfoil/engine/define';
import { aggregate } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { z } from 'zod';
import { type MessageOrigin, wholeBodyOf } from './whole-body.ts';

const test = suite('whole body');

const counter = aggregate({
  name: 'counter',
  scope: 'environment',
  events: { Counted: z.object({ by: z.number() }) },
  initial: 0,
  evolve: (state: number, event) => state + event.data.by,
});

const counterPublicEvents = {
  aggregate: counter,
  publish: ({ before, after }: { before: number; after: number }) => [
    { type: 'counter.counted', resourceId: 'counter_1', body: { counter: { before, after } } },
  ],
} as unknown as PublicEvents;

/** A context whose log has one stream of steps, each by one more than the last. */
const context = {
  history: async function* (_: unknown, id: string, { maximum }: { maximum: number }) {
    assert.is(id, 'counter_1');
    for (let revision = 0; revision < Math.min(maximum, 5); revision += 1) {
      yield { type: 'Counted', data: { by: revision + 1 }, revision };
    }
  },
} as unknown as RequestContext;

const bodyOf = (asked: RequestContext, origin: MessageOrigin) =>
  wholeBodyOf([counterPublicEvents], asked, origin);
const origin = {
  stream: 'counter-env_1.counter_1',
  revision: 2,
  type: 'counter.counted',
  resourceId: 'counter_1',
};

test('the body is the one of that event, whatever has happened since', async () => {
  assert.equal(await bodyOf(context, origin), {
    event_type: 'counter.counted',
    counter: { before: 3, after: 6 },
  });
});

test('what nobody publishes any more has none', async () => {
  assert.is(await bodyOf(context, { ...origin, type: 'counter.reset' }), null);
  assert.is(await bodyOf(context, { ...origin, stream: 'other-env_1.x' }), null);
  assert.is(await bodyOf(context, { ...origin, stream: '' }), null);
  assert.is(await bodyOf(context, { ...origin, revision: 9 }), null);
});

test.run();
