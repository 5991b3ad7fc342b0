import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Publisher, PublishOutcome } from '../nats/nats-publisher.ts';
import type { Tail } from '../nats/nats-tail.ts';
import type { OutgoingMessage } from './message.ts';
import { PublishRefused, publishInOrder, StreamWentBack } from './publish-in-order.ts';
import { logStart, type Place, placeOf } from './resume.ts';

const test = suite('publishing in order');

/** The fate of a message on its way. */
const fate = fc.constantFrom(
  'stored' as const,
  'stored_unheard' as const,
  'lost' as const,
  'refused' as const,
  'other_relay_first' as const,
  'end_cut_off' as const,
);
type Fate = typeof fate extends fc.Arbitrary<infer Value> ? Value : never;

const message = (position: bigint, index: number, count: number): OutgoingMessage => ({
  position,
  index,
  count,
  id: `${position}_${index}`,
  subject: 'billing.v1.t.e.r.i.x',
  headers: {},
  body: new Uint8Array(),
  truncated: false,
});

const messagesOf = (counts: readonly number[]): OutgoingMessage[] =>
  counts.flatMap((count, event) =>
    Array.from({ length: count }, (_, index) => message(BigInt(event + 1) * 10n, index, count)),
  );

/** A stream that checks the expected sequence as JetStream does, with faults on the way. */
function brokenBroker(all: readonly OutgoingMessage[], fates: readonly Fate[]) {
  const stored: OutgoingMessage[] = [];
  let step = 0;
  const store = (next: OutgoingMessage, sequence: number): PublishOutcome['fault'] => {
    const happens = fates[step++] ?? 'stored';
    if (happens === 'other_relay_first')
      stored.push(...all.slice(stored.length, stored.length + 2));
    if (happens === 'end_cut_off') stored.splice(Math.max(0, stored.length - 2));
    if (happens === 'lost') return 'unknown_outcome';
    if (happens === 'refused') return 'refused';
    if (stored.some(({ id }) => id === next.id)) return 'duplicate';
    if (sequence !== stored.length) return 'conflict';
    stored.push(next);
    return happens === 'stored_unheard' ? 'unknown_outcome' : null;
  };
  const publisher: Publisher = {
    publish: async (messages, sequence) => {
      let acknowledged = 0;
      for (const next of messages) {
        const fault = store(next, sequence + acknowledged);
        if (fault) return { acknowledged, fault, detail: fault };
        acknowledged += 1;
      }
      return { acknowledged, fault: null, detail: '' };
    },
    close: () => undefined,
  };
  const readTail = async (): Promise<Tail> => {
    const last = stored.at(-1);
    const source = { stream: 'box-e.b', revision: 0 };
    return {
      identity: 'BILLING',
      sequence: stored.length,
      last: last ? { ...last, ...source } : null,
    };
  };
  return { stored, publisher, readTail };
}

const options = (broker: ReturnType<typeof brokenBroker>) => ({
  ...broker,
  signal: new AbortController().signal,
  backOff: { next: () => 0, reset: () => undefined },
  onPlace: () => undefined,
  onResync: () => undefined,
});

/** Goes on as the relay does: from the stream's own end whenever that has gone back. */
async function publishAll(
  all: readonly OutgoingMessage[],
  broker: ReturnType<typeof brokenBroker>,
): Promise<Place> {
  for (;;) {
    const { sequence, last } = await broker.readTail();
    const start = placeOf(sequence, last);
    try {
      return await publishInOrder(all, start, options(broker));
    } catch (error) {
      if (!(error instanceof StreamWentBack || error instanceof PublishRefused)) throw error;
    }
  }
}

test('whatever goes wrong, the stream ends up with every message once and in order', async () => {
  const counts = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(counts, fc.array(fate, { maxLength: 40 }), async (given, fates) => {
      const all = messagesOf(given);
      const broker = brokenBroker(all, fates);
      const place = await publishAll(all, broker);
      // A cut may come right after the last answer; then only the next look can notice it.
      if (broker.stored.length < place.sequence) await publishAll(all, broker);
      assert.equal(
        broker.stored.map(({ id }) => id),
        all.map(({ id }) => id),
      );
      assert.is(place.sequence, all.length);
      assert.is(place.complete, true);
    }),
    { numRuns: 300 },
  );
});

test('a stream that is shorter than known is not written to', async () => {
  const all = messagesOf([1, 1, 1]);
  const broker = brokenBroker(all, []);
  const known = { sequence: 2, position: 20n, index: 0, complete: true };
  const failure = await publishInOrder(all, known, options(broker)).catch((error) => error);
  assert.instance(failure, StreamWentBack);
  assert.equal(broker.stored, []);
});

test('it gives up for now when nothing gets through', async () => {
  const all = messagesOf([1]);
  const broker = brokenBroker(all, Array(100).fill('refused'));
  const failure = await publishInOrder(all, logStart, options(broker)).catch((error) => error);
  assert.instance(failure, PublishRefused);
});

test('another relay that is ahead of the whole batch leaves nothing to do', async () => {
  const all = messagesOf([1, 2, 1]);
  const broker = brokenBroker(all, []);
  broker.stored.push(...all);
  const place = await publishInOrder(all.slice(0, 2), logStart, options(broker));
  assert.equal(place, { sequence: 4, position: 30n, index: 0, complete: true });
});

test.run();
