import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UnreadableEvent } from '../log/incoming-event.ts';
import type { LogItem, Position, StoredEvent, SubscriptionOptions } from '../log/types.ts';
import { openLogFeed } from './log-feed.ts';

const test = suite('feed of the log');

/** A log in memory, whose subscriptions can be cut. */
function memoryLog() {
  const events: StoredEvent[] = [];
  const live = new Set<() => void>();
  let opened = 0;
  let cut = new AbortController();
  let unreadable: Position | null = null;

  async function* subscribe(after: Position, { prefixes, signal }: SubscriptionOptions) {
    const end = AbortSignal.any([signal, cut.signal]);
    let next = events.findIndex(({ position }) => position > after);
    if (next < 0) next = events.length;
    let isTold = false;
    while (!end.aborted) {
      const batch: LogItem[] = events
        .slice(next)
        .filter(({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix)))
        .map((event) => ({ kind: 'event', event }));
      next = events.length;
      for (const item of batch) {
        if (item.kind === 'event' && item.event.position === unreadable) {
          throw new UnreadableEvent(item.event.stream, item.event.revision, 'for the test');
        }
      }
      if (!isTold) batch.push({ kind: 'caught_up' });
      isTold = true;
      if (batch.length > 0) yield batch;
      if (next < events.length) continue;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          live.delete(wake);
          resolve();
        };
        live.add(wake);
        if (end.aborted) wake();
        end.addEventListener('abort', wake, { once: true });
      });
    }
    if (!signal.aborted) throw new Error('cut');
  }

  const store = {
    head: async () => events.at(-1)?.position ?? 0n,
    async *follow(options: SubscriptionOptions): AsyncGenerator<readonly LogItem[]> {
      while (!options.signal.aborted) {
        opened += 1;
        try {
          yield* subscribe(await options.after(), options);
        } catch (error) {
          if (error instanceof UnreadableEvent) throw error;
          options.onLost?.(error as Error);
          await turn();
        }
      }
    },
  };
  return {
    store,
    opened: () => opened,
    append: (stream: string): void => {
      const position = BigInt(events.length * 10 + 10);
      events.push({ stream, revision: events.length, position } as StoredEvent);
      for (const wake of [...live]) wake();
    },
    damage: (position: Position) => {
      unreadable = position;
    },
    cut: () => {
      const old = cut;
      cut = new AbortController();
      old.abort();
    },
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const settled = async (): Promise<void> => {
  for (let turns = 0; turns < 30; turns += 1) await turn();
};

/** Somebody who follows a feed, and goes on with the next batch only when `isFree`. */
function follower(
  feed: ReturnType<typeof openLogFeed>,
  prefixes: readonly string[],
  begin: Position,
  isFree: () => boolean = () => true,
) {
  const stop = new AbortController();
  const seen: string[] = [];
  let position = begin;
  let losses = 0;
  const run = async (): Promise<void> => {
    const request = {
      prefixes,
      after: () => position,
      signal: stop.signal,
      onLost: () => {
        losses += 1;
      },
    };
    for await (const items of feed.follow(request, 3)) {
      for (const item of items) {
        if (item.kind === 'caught_up') seen.push('caught up');
        else {
          position = item.kind === 'event' ? item.event.position : item.position;
          if (item.kind === 'event') seen.push(String(item.event.position));
        }
      }
      while (!isFree() && !stop.signal.aborted) await turn();
    }
  };
  const running = run();
  return {
    seen,
    losses: () => losses,
    position: () => position,
    running,
    stop: async () => {
      stop.abort();
      await running.catch(() => undefined);
    },
  };
}

/** The events that followers see from the start of a log of these streams. */
const positions = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(index * 10 + 10));

test('those who begin at the end share one subscription, each with its own streams', async () => {
  const log = memoryLog();
  log.append('a-1');
  const feed = openLogFeed({ store: log.store, prefixes: ['a-', 'b-'] });
  const first = follower(feed, ['a-'], 10n);
  const second = follower(feed, ['b-'], 10n);
  await settled();
  for (const stream of ['a-1', 'b-1', 'a-2']) log.append(stream);
  await settled();
  assert.equal(first.seen, ['caught up', '20', '40']);
  assert.equal(second.seen, ['caught up', '30']);
  assert.is(second.position(), 40n, 'what is of no interest moves it on too');
  assert.is(log.opened(), 1);
  await Promise.all([first.stop(), second.stop(), feed.close()]);
});

test('one is woken at once by its own streams, and moved on past those of others soon after', async () => {
  const log = memoryLog();
  const feed = openLogFeed({ store: log.store, prefixes: ['a-', 'b-'] });
  const first = follower(feed, ['a-'], 0n);
  const second = follower(feed, ['b-'], 0n);
  await settled();
  for (let count = 1; count <= 3; count += 1) {
    log.append('a-1');
    await settled();
    assert.equal(first.seen, ['caught up', ...positions(count)]);
    while (second.position() < BigInt(count * 10)) await turn();
  }
  log.append('b-1');
  await settled();
  assert.equal(second.seen, ['caught up', '40']);
  await Promise.all([first.stop(), second.stop(), feed.close()]);
});

test('one that begins earlier reads for itself, and then joins', async () => {
  const log = memoryLog();
  for (const stream of ['a-1', 'b-1', 'a-1']) log.append(stream);
  const feed = openLogFeed({ store: log.store, prefixes: ['a-', 'b-'] });
  const early = follower(feed, ['a-'], 0n);
  await settled();
  assert.equal(early.seen, ['10', '30', 'caught up']);
  assert.is(log.opened(), 2);
  log.append('a-1');
  await settled();
  assert.equal(early.seen.slice(3), ['40']);
  await Promise.all([early.stop(), feed.close()]);
});

test('one that is too slow falls out of the window, misses nothing and holds up nobody', async () => {
  const log = memoryLog();
  const feed = openLogFeed({ store: log.store, prefixes: ['a-'], windowEvents: 4 });
  let isFree = true;
  const slow = follower(feed, ['a-'], 0n, () => isFree);
  const quick = follower(feed, ['a-'], 0n);
  await settled();
  isFree = false;
  for (let count = 0; count < 40; count += 1) {
    log.append('a-1');
    if (count % 2 === 0) await settled();
  }
  await settled();
  assert.equal(quick.seen, ['caught up', ...positions(40)]);
  assert.ok(slow.seen.length < 10);
  assert.is(log.opened(), 1);
  isFree = true;
  await settled();
  assert.equal(slow.seen, ['caught up', ...positions(40)]);
  assert.ok(log.opened() > 1, 'it has read for itself');
  await Promise.all([slow.stop(), quick.stop(), feed.close()]);
});

test('after a loss each is asked where it is, and told once more when all is there', async () => {
  const log = memoryLog();
  const feed = openLogFeed({ store: log.store, prefixes: ['a-'] });
  const one = follower(feed, ['a-'], 0n);
  await settled();
  log.append('a-1');
  await settled();
  log.cut();
  log.append('a-1');
  while (one.seen.length < 4) await turn();
  assert.equal(one.seen, ['caught up', '10', '20', 'caught up']);
  assert.is(one.losses(), 1);
  await Promise.all([one.stop(), feed.close()]);
});

test('an event that cannot be read ends the following of its streams alone', async () => {
  const log = memoryLog();
  const feed = openLogFeed({ store: log.store, prefixes: ['a-', 'b-'] });
  const bad = follower(feed, ['a-'], 0n);
  const good = follower(feed, ['b-'], 0n);
  const failure = bad.running.catch((error: unknown) => error);
  await settled();
  log.damage(20n);
  for (const stream of ['b-1', 'a-1', 'b-1']) log.append(stream);
  assert.instance(await failure, UnreadableEvent);
  await settled();
  log.append('b-1');
  await settled();
  assert.equal(
    good.seen.filter((each) => each !== 'caught up'),
    ['10', '30', '40'],
  );
  await Promise.all([bad.stop(), good.stop(), feed.close()]);
});

test('whatever happens in between, everybody gets every event once and in order', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'pause', 'cut', 'hold', 'go'), { maxLength: 60 }),
      fc.nat(8),
      async (steps, before) => {
        const log = memoryLog();
        for (let count = 0; count < before; count += 1) log.append('a-1');
        const feed = openLogFeed({ store: log.store, prefixes: ['a-', 'b-'], windowEvents: 3 });
        let isFree = true;
        const slow = follower(feed, ['a-', 'b-'], 0n, () => isFree);
        const quick = follower(feed, ['a-', 'b-'], 0n);
        let count = before;
        for (const step of steps) {
          if (step === 'pause') await turn();
          else if (step === 'cut') log.cut();
          else if (step === 'hold' || step === 'go') isFree = step === 'go';
          else {
            log.append(`${step}-1`);
            count += 1;
          }
        }
        isFree = true;
        const last = BigInt(count * 10);
        while (slow.position() < last || quick.position() < last) await turn();
        for (const each of [slow, quick]) {
          assert.equal(
            each.seen.filter((item) => item !== 'caught up'),
            positions(count),
          );
        }
        await Promise.all([slow.stop(), quick.stop(), feed.close()]);
      },
    ),
    { numRuns: 60 },
  ));

test.run();
