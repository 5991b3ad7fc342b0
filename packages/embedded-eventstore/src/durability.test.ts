import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Storage } from './storage.ts';
import {
  collect,
  failureOf,
  gate,
  numbered,
  openTestServer,
  refusal,
  revisionsOf,
  type TestServer,
} from './test-server.ts';

interface Held {
  store: TestServer;
  /** Each commit waits for the next gate before it reaches the disk. */
  hold(): { readonly reached: Promise<void>; open(): void; fail(error: Error): void };
  failures: Error[];
  commits: number;
}

const test = suite<Held>('durability');

test.before.each(async (context) => {
  let pending: { reached: ReturnType<typeof gate>; release: ReturnType<typeof gate> } | undefined;
  context.failures = [];
  context.commits = 0;
  context.hold = () => {
    const held = { reached: gate(), release: gate() };
    pending = held;
    return {
      reached: held.reached.opened,
      open: held.release.open,
      fail: held.release.fail,
    };
  };
  context.store = await openTestServer({
    onFailure: (error) => context.failures.push(error),
    wrapStorage: (storage: Storage) => ({
      ...storage,
      commit: async (batch) => {
        context.commits += 1;
        const held = pending;
        pending = undefined;
        if (held !== undefined) {
          held.reached.open();
          await held.release.opened;
        }
        await storage.commit(batch);
      },
    }),
  });
});
test.after.each(({ store }) => store.close());

test('nothing can be seen before it is on disk', async ({ store: { client }, hold }) => {
  await client.appendToStream('a-1', numbered(0));
  const delivered: bigint[] = [];
  const subscriptions = [client.subscribeToAll(), client.subscribeToStream('a-1')];
  for (const subscription of subscriptions) {
    subscription.on('data', ({ event }) => delivered.push(event?.revision ?? -1n));
    await new Promise<void>((resolve) => subscription.once('caughtUp', () => resolve()));
  }
  const held = hold();
  let answered = false;
  const append = client.appendToStream('a-1', numbered(1), { expectedRevision: 0n }).then(() => {
    answered = true;
  });
  await held.reached;
  // A refusal that depends on the undurable event waits for it as well.
  let refused = false;
  const conflict = refusal(() =>
    client.appendToStream('a-1', numbered(2), { expectedRevision: 0n }),
  ).then((error) => {
    refused = true;
    return error;
  });
  assert.equal(revisionsOf(await collect(client.readStream('a-1'))), [0]);
  assert.is((await collect(client.readAll())).length, 1);
  assert.equal(delivered, [0n, 0n]);
  assert.not(answered);
  assert.not(refused);

  held.open();
  await append;
  assert.is((await conflict).actualVersion, 1n);
  assert.equal(revisionsOf(await collect(client.readStream('a-1'))), [0, 1]);
  for (const subscription of subscriptions) await subscription.unsubscribe();
});

test('a duplicate of an append in flight waits for it', async ({ store: { client }, hold }) => {
  const held = hold();
  const results: string[] = [];
  const append = (name: string) =>
    client
      .appendToStream('a-1', numbered(0), { expectedRevision: 'no_stream' })
      .then((result) => results.push(`${name} ${result.position?.commit}`));
  const original = append('original');
  await held.reached;
  const duplicate = append('duplicate');
  // A read is a round trip behind the duplicate on the same connection.
  assert.equal(await collect(client.readAll()), []);
  assert.equal(results, []);
  held.open();
  await Promise.all([original, duplicate]);
  assert.equal(results, ['original 1', 'duplicate 1']);
});

test('a duplicate waits for its own commit, not for an earlier one', async (context) => {
  const { client } = context.store;
  const first = context.hold();
  const earlier = client.appendToStream('a-1', numbered(0));
  await first.reached;
  const append = () => client.appendToStream('a-1', numbered(1), { expectedRevision: 0n });
  const original = append();
  // The round trip shows that the server has the append, which must wait for the next commit.
  assert.equal(await collect(client.readAll()), []);
  const second = context.hold();
  first.open();
  await earlier;
  await second.reached;
  let answered = false;
  const duplicate = append().then((result) => {
    answered = true;
    return result;
  });
  assert.is((await collect(client.readAll())).length, 1);
  assert.not(answered);
  second.open();
  assert.equal(await duplicate, await original);
  assert.is((await collect(client.readAll())).length, 2);
});

test('many small appends share few commits', async (context) => {
  const { client } = context.store;
  const held = context.hold();
  const first = client.appendToStream('a-0', numbered(0));
  await held.reached;
  const rest = Array.from({ length: 50 }, (_, index) =>
    client.appendToStream(`b-${index}`, numbered(index)),
  );
  assert.is((await collect(client.readAll())).length, 0);
  held.open();
  await Promise.all([first, ...rest]);
  assert.is((await collect(client.readAll())).length, 51);
  // The client sends in several chunks, so not everything need be there when the first commit ends.
  assert.ok(context.commits < 25, `${context.commits} commits`);
});

test('a failed commit stops everything', async (context) => {
  const { store, hold } = context;
  const { client } = store;
  await client.appendToStream('a-1', numbered(0));
  const subscription = client.subscribeToAll();
  const ended = failureOf(subscription);
  await new Promise<void>((resolve) => subscription.once('caughtUp', () => resolve()));
  const held = hold();
  const append = refusal(() => client.appendToStream('a-1', numbered(1)));
  await held.reached;
  const queued = refusal(() => client.appendToStream('a-2', numbered(2)));
  held.fail(new Error('disk full'));
  for (const error of [await append, await queued, await ended]) {
    assert.is(error.type, 'unavailable');
  }
  assert.is((await refusal(() => client.appendToStream('a-1', numbered(3)))).type, 'unavailable');
  assert.is((await refusal(() => client.deleteStream('a-1'))).type, 'unavailable');
  assert.is((await refusal(() => collect(client.readAll()))).type, 'unavailable');
  assert.equal(
    context.failures.map((error) => error.message),
    ['disk full'],
  );
  await store.restart();
  assert.equal(revisionsOf(await collect(store.client.readStream('a-1'))), [0]);
  const again = await store.client.appendToStream('a-1', numbered(1), { expectedRevision: 0n });
  assert.is(again.nextExpectedRevision, 1n);
});

test('closing finishes what was accepted and ends the rest as unavailable', async ({
  store,
  hold,
}) => {
  const { client, server } = store;
  const subscription = client.subscribeToAll();
  const ended = failureOf(subscription);
  await new Promise<void>((resolve) => subscription.once('caughtUp', () => resolve()));
  const held = hold();
  const append = client.appendToStream('a-1', numbered(0));
  await held.reached;
  const closing = server.close();
  const late = refusal(() => client.appendToStream('a-1', numbered(1)));
  held.open();
  assert.is((await append).nextExpectedRevision, 0n);
  assert.is((await ended).type, 'unavailable');
  assert.is((await late).code ?? 14, 14);
  await closing;
  await server.close();
  await store.restart();
  assert.equal(revisionsOf(await collect(store.client.readStream('a-1'))), [0]);
});

test.run();
