import { publicEvents, type RequestContext } from '@counterfoil/engine/define';
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

const counterPublicEvents = publicEvents(
  counter,
  ({ before, after }, embedded) => [
    {
      type: 'counter.counted',
      resourceId: 'counter_1',
      body: { counter: { before, after }, ...embedded },
    },
  ],
  {},
  {
    other: {
      record: { aggregate: counter, view: (count: number) => ({ count }) },
      id: () => 'counter_2',
    },
  },
);

/**
 * A context whose log has two streams of steps, each by one more than the last. The steps of the
 * second come right after those of the first.
 */
const context = {
  history: async function* (_: unknown, id: string, { maximum = 5 } = {}) {
    const place = ['counter_1', 'counter_2'].indexOf(id);
    assert.ok(place >= 0, id);
    for (let revision = 0; revision < Math.min(maximum, 5); revision += 1) {
      const position = String(2 * revision + place);
      yield { type: 'Counted', data: { by: revision + 1 }, revision, position };
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
    // The other one as it was then, too.
    other: { count: 3 },
  });
});

test('what nobody publishes any more has none', async () => {
  assert.is(await bodyOf(context, { ...origin, type: 'counter.reset' }), null);
  assert.is(await bodyOf(context, { ...origin, stream: 'other-env_1.x' }), null);
  assert.is(await bodyOf(context, { ...origin, stream: '' }), null);
  assert.is(await bodyOf(context, { ...origin, revision: 9 }), null);
});

test.run();
