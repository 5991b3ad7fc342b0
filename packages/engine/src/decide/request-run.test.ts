import { instantOf, invalidField, Problem } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Principal } from '../define/context.ts';
import type { RequestContext } from '../define/request-context.ts';
import type { BeginRequest } from '../http/host.ts';
import { RecentWrites } from './read-your-writes.ts';
import { RequestRunner, type RunOptions } from './request-run.ts';
import { command, fill, jar, startOn } from './test-jar.ts';

const test = suite('request run');

/** Requests that one process gets, all with the same idempotency key unless it is said otherwise. */
function requestsTo(
  store: MemoryStore,
  given: Partial<Pick<BeginRequest, 'ifMatch' | 'idempotencyKey' | 'madeKey' | 'requestId'>> = {},
): () => RequestContext {
  const { streams } = startOn(store);
  const options: RunOptions = {
    streams,
    readSide: {
      reader: () => ({}) as never,
      projected: { position: () => 0n, waitFor: () => Promise.resolve(true) },
    },
    recentWrites: new RecentWrites(),
    now: Date.now,
  };
  const request: BeginRequest = {
    principal: { tenantId: 'tenant_1', environmentId: 'env_1' } as Principal,
    requestId: 'req_1',
    receivedAt: instantOf(0),
    route: 'POST /jars/{id}/fill',
    operation: 'POST /jars/1/fill',
    idempotencyKey: 'key',
    fields: {},
    ifMatch: null,
    minimumPosition: null,
    ...given,
  };
  return () => new RequestRunner(options, request);
}

test('a repetition is answered although another process wrote it and it could not be prepared now', async () => {
  const store = new MemoryStore();
  const [here, there] = [requestsTo(store), requestsTo(store)];
  const tooLate = (): never => {
    throw invalidField('/expires_at', 'must lie in the future');
  };
  const refusal = await here()
    .execute(jar, '1', tooLate)
    .catch((problem: Problem) => problem.code);
  assert.is(refusal, 'validation_error', 'nobody has answered it yet');
  await there().execute(jar, '1', fill(3) as never);
  const again = await here().execute(jar, '1', tooLate);
  assert.is(again.state.coins, 3);
  assert.is(again.replayed, true);
});

test('a record under an id that the request has just made up is not looked for before it is written', async () => {
  const store = new MemoryStore();
  const reads: string[] = [];
  const read = store.readStream.bind(store);
  store.readStream = (stream, range) => {
    reads.push(stream);
    return read(stream, range);
  };
  const request = requestsTo(store, { idempotencyKey: null })();
  const id = request.newId('wallet');
  await request.execute(jar, id, fill(1) as never);
  const { state } = await request.execute(jar, id, fill(2) as never);
  assert.is(state.coins, 3);
  assert.equal(reads, []);
});

test('what a request has done elsewhere, while its owner kept silent, is no repetition to its caller', async () => {
  const store = new MemoryStore();
  const madeKey = { key: 'made', remembersRefusals: true };
  await requestsTo(store)().execute(jar, '1', fill(3) as never);
  const after = requestsTo(store, { madeKey })() as RequestRunner;
  assert.is((await after.execute(jar, '1', fill(3) as never)).state.coins, 3);
  assert.is(after.replayed, false);
  const repeated = requestsTo(store, { madeKey, requestId: 'req_2' })() as RequestRunner;
  assert.is((await repeated.execute(jar, '1', fill(3) as never)).state.coins, 3);
  assert.is(repeated.replayed, true);
});

test('what a caller has written by way of another process is recalled, though nobody has told of it yet', async () => {
  const store = new MemoryStore();
  const [here, there] = [startOn(store), startOn(store)];
  const recentWrites = new RecentWrites();
  const options = {
    streams: here.streams,
    readSide: { reader: () => ({}), projected: { position: () => 0n } },
    recentWrites,
    now: Date.now,
  } as unknown as RunOptions;
  const coinsFor = async (keyId: string) => {
    const principal = { tenantId: 'tenant_1', environmentId: 'env_1', keyId } as Principal;
    const request = {
      principal,
      requestId: 'req_1',
      receivedAt: instantOf(0),
      minimumPosition: null,
    };
    const { recalled } = new RequestRunner(options, request as BeginRequest);
    return (await recalled.known(jar, '1')).coins;
  };
  here.streams.cache.heard.reach(0n);
  await here.writer().run(command(fill(1)));
  assert.is(await coinsFor('key_1'), 1);
  const { position } = await there.writer().run(command(fill(2)));
  assert.is(await coinsFor('key_2'), 1, 'another caller has not written it');
  recentWrites.noteElsewhere('key_1', position, 0);
  assert.is(await coinsFor('key_1'), 3);
});

test('If-Match binds the record that a request writes first, and no other', async () => {
  const store = new MemoryStore();
  const options = requestsTo(store);
  await options().execute(jar, 'one', fill(1) as never);
  const bound = requestsTo(store, { ifMatch: 0, idempotencyKey: null })();
  await bound.execute(jar, 'one', fill(2) as never);
  const { revision } = await bound.execute(jar, 'two', fill(5) as never);
  assert.is(revision, 0, 'a record at another revision is written too');
  const late = requestsTo(store, { ifMatch: 0, idempotencyKey: null })();
  const refused = await late
    .execute(jar, 'one', fill(3) as never)
    .catch((problem: Problem) => problem.code);
  assert.is(refused, 'precondition_failed');
});

test('what is written beside a request has no part in its answer, in its key or in its tag', async () => {
  const run = requestsTo(new MemoryStore(), { ifMatch: 7, idempotencyKey: 'key' })();
  assert.instance(run, RequestRunner);
  for (const coins of [2, 3]) {
    const { state } = await run.beside().execute(jar, 'beside', fill(coins) as never);
    assert.is(state.coins, coins === 2 ? 2 : 5, 'the key answers no second time');
  }
  assert.is((run as RequestRunner).position, null);
  const refused = await run
    .execute(jar, 'own', fill(1) as never)
    .catch((problem: Problem) => problem.code);
  assert.is(refused, 'precondition_failed', 'the tag is still that of the record it is about');
});

const noPage = { items: [], pagination: { total: 0, limit: 50, offset: 0 } };

/** A reader whose table has no row, in a process whose caller wrote at position 5. */
function readingBehind(
  readSide: Partial<RunOptions['readSide']>,
  recentWrites = new RecentWrites(),
  minimumPosition: bigint | null = null,
  head: bigint | null = null,
) {
  const started = startOn(new MemoryStore()).streams;
  const store = { head: async () => head } as RunOptions['streams']['store'];
  const streams = head === null ? started : { ...started, store };
  recentWrites.note('key_1', 5n, 0);
  const options: RunOptions = {
    streams,
    readSide: {
      reader: () =>
        ({ find: async () => null, first: async () => null, list: async () => noPage }) as never,
      projected: { position: () => 5n, waitFor: () => Promise.resolve(false) },
      ...readSide,
    },
    recentWrites,
    now: () => 100,
  };
  const principal = { tenantId: 'tenant_1', environmentId: 'env_1', keyId: 'key_1' } as Principal;
  return new RequestRunner(options, {
    principal,
    requestId: 'req_1',
    receivedAt: instantOf(0),
    route: 'GET /jars/{id}',
    operation: 'GET /jars/1',
    idempotencyKey: null,
    fields: {},
    ifMatch: null,
    minimumPosition,
  });
}

const jars = { name: 'jars' } as never;
const codeOf = (found: Promise<unknown>) => found.catch((problem: Problem) => problem.code);

test('what is not there is not called missing while the last write of the caller is not shown', async () => {
  const projected = { position: () => 4n, waitFor: () => Promise.resolve(false) };
  const behind = readingBehind({ projected });
  assert.is(await codeOf(behind.read.find(jars, '1')), 'service_unavailable');
  assert.is(await codeOf(behind.read.first(jars, [])), 'service_unavailable');
  assert.is(behind.lagMilliseconds, 100);
  const stopped = readingBehind({ behindAt: () => 4n, lagOf: () => 7 });
  assert.is(await codeOf(stopped.read.find(jars, '1')), 'service_unavailable');
});

test('a record that the log does not have is missing at once, and one that it has is not', async () => {
  const projected = { position: () => 4n, waitFor: () => Promise.resolve(false) };
  const behind = readingBehind({ projected });
  const records = { name: 'jars', recordsOf: jar } as never;
  assert.is(await codeOf(behind.read.find(records, 'none')), null);
  await behind.execute(jar, 'one', fill(1) as never);
  assert.is(await codeOf(behind.read.find(records, 'one')), 'service_unavailable');
});

test('a read that must show more than the log has is refused for good, not asked to come back', async () => {
  const problem = await readingBehind({}, new RecentWrites(), 99n)
    .read.find(jars, '1')
    .catch((found: Problem) => found);
  assert.ok(problem instanceof Problem);
  assert.equal([problem.code, problem.details?.reason], ['invalid_operation', 'not_yet_reached']);
});

test('a read that asks for a position waits for it, and is refused as a whole when that takes too long', async () => {
  const asked: [bigint, number][] = [];
  const projected = {
    position: () => 6n,
    waitFor: async (position: bigint, milliseconds: number) => {
      asked.push([position, milliseconds]);
      return position <= 6n;
    },
  };
  const reading = (position: bigint) =>
    readingBehind({ projected }, new RecentWrites(), position, 9n);
  const late = await reading(7n)
    .read.list(jars, { limit: 50, offset: 0 })
    .catch((problem: Problem) => problem);
  assert.ok(late instanceof Problem);
  assert.equal(
    [late.code, late.retryAfterSeconds, late.details?.minimum_position],
    ['service_unavailable', 1, '7'],
  );
  assert.equal(asked, [[7n, 2_000]]);
  const inTime = reading(6n);
  assert.is(await inTime.read.find(jars, '1'), null, 'a record that is not there is missing');
  assert.equal([inTime.position, asked.slice(1).map(([position]) => position)], [6n, [6n, 5n]]);
});

test('what is not there is missing as soon as the last write of the caller is shown', async () => {
  assert.is(await readingBehind({}).read.find(jars, '1'), null);
  assert.is(await readingBehind({ behindAt: () => 5n }).read.first(jars, []), null);
});

test('what the caller writes after the beginning of a read does not hold it up', async () => {
  const waitedFor: bigint[] = [];
  const projected = {
    position: () => 5n,
    waitFor: async (position: bigint) => waitedFor.push(position) > 0,
  };
  const recentWrites = new RecentWrites();
  const run = readingBehind({ projected }, recentWrites);
  recentWrites.note('key_1', 9n, 0);
  assert.is(await run.read.find(jars, '1'), null);
  assert.equal(waitedFor, [5n]);
});

test('a list is answered as far as the table is, and says how far that is', async () => {
  const projected = { position: () => 4n, waitFor: () => Promise.resolve(false) };
  const behind = readingBehind({ projected });
  assert.equal(await behind.read.list(jars, { limit: 50, offset: 0 }), noPage);
  assert.is(behind.position, 4n);
  assert.is(behind.lagMilliseconds, 100);
});

test('a read of a table that was left behind says for how long', async () => {
  const run = readingBehind({ behindAt: () => 5n, lagOf: () => 7 });
  assert.is(run.lagMilliseconds, null);
  await run.read.find(jars, '1');
  assert.is(run.lagMilliseconds, 7);
});

test.run();
