import { randomUUID } from 'node:crypto';
import { BrokenInvariant, instantOf, Problem, refusal } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chainAfter, chainFault, emptyChain } from '../log/hash-chain.ts';
import type { StoredEvent } from '../log/types.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import { command, fill, type JarDecision, jar, outcomeOf, rename, startOn } from './test-jar.ts';

const test = suite('stream writer');

const start = (store = new MemoryStore(), now?: () => number) => startOn(store, now);

const assertChains = (store: MemoryStore): void => {
  const heads = new Map<string, typeof emptyChain>();
  for (const event of store.log) {
    const head = heads.get(event.stream) ?? emptyChain;
    assert.is(chainFault(head, event), null, `${event.stream}@${event.revision}`);
    heads.set(event.stream, chainAfter(event));
  }
};

test('commands that wait together go out as one append and keep their order', async () => {
  const { store, writer } = start();
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, () => writer().run(command(fill(1)))),
  );
  assert.equal(
    outcomes.map(({ state }) => state.coins),
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  assert.ok(store.appends <= 2, `${store.appends} appends`);
  assertChains(store);
});

test('a command that fails leaves the others of its batch as if it were absent', async () => {
  const { store, writer } = start();
  const outcomes = await Promise.all([
    outcomeOf(writer().run(command(fill(5)))),
    outcomeOf(writer().run(command(fill(-9)))),
    outcomeOf(writer().run(command(fill(-5)))),
  ]);
  assert.is(outcomes[1], 'invalid_operation');
  assert.is(store.log.length, 2);
  assert.is((await writer().current()).state.coins, 0);
});

test('while the clock is in doubt nothing is decided; what waits fails together or goes on', async () => {
  const wrong = new Problem('service_unavailable', 'wrong clock');
  let doubtOfTime = (): Promise<void> | null => Promise.reject(wrong);
  const { store, writer } = startOn(new MemoryStore(), undefined, {
    doubtOfTime: () => doubtOfTime(),
  });
  const fillTwice = () => [1, 2].map((coins) => outcomeOf(writer().run(command(fill(coins)))));
  assert.equal(await Promise.all(fillTwice()), ['service_unavailable', 'service_unavailable']);
  assert.is(store.log.length, 0);
  const { promise, resolve } = Promise.withResolvers<void>();
  doubtOfTime = () => promise;
  const waiting = Promise.all(fillTwice());
  resolve();
  await waiting;
  doubtOfTime = () => null;
  await Promise.all(fillTwice());
  assert.is((await writer().current()).state.coins, 6);
});

test('a stream that is probably new is not read, and is known whole from then on', async () => {
  const { store, writer } = start();
  const reads: string[] = [];
  const read = store.readStream.bind(store);
  store.readStream = (stream, range) => {
    reads.push(stream);
    return read(stream, range);
  };
  await writer().run({ ...command(fill(1)), isProbablyFirst: true });
  await writer().run(command(fill(2)));
  assert.equal(reads, []);
  assert.is((await writer().current()).state.coins, 3);
  assertChains(store);
});

test('what was taken to be new and is not is decided on what it has, and nobody is said to contend for it', async () => {
  const first = start();
  await first.writer().run(command(fill(5)));
  const lost: string[] = [];
  let conflicts = 0;
  const second = startOn(first.store, undefined, {
    ownership: { ownerElsewhere: () => null, lost: (name) => lost.push(name) },
    onConflict: () => {
      conflicts += 1;
    },
  });
  const { state } = await second.writer().run({ ...command(fill(1)), isProbablyFirst: true });
  assert.is(state.coins, 6);
  const refused = outcomeOf(second.writer().run({ ...command(fill(-9)), isProbablyFirst: true }));
  assert.is(await refused, 'invalid_operation');
  assert.equal([lost, conflicts], [[], 0]);
  assertChains(first.store);
});

test('a refusal of a stream that was taken to be new is as good as what it has', async () => {
  const first = start();
  await first.writer().run(command(fill(5)));
  const second = start(first.store);
  const { state } = await second.writer().run({ ...command(fill(-4)), isProbablyFirst: true });
  assert.is(state.coins, 1);
});

test('two processes on one stream lose nothing and decide on what the other wrote', async () => {
  const first = start();
  const second = start(first.store);
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      outcomeOf(
        (index % 2 ? first : second)
          .writer()
          .run({ ...command(fill(1)), isProbablyFirst: index % 3 === 0 }),
      ),
    ),
  );
  const coins = outcomes.map((outcome) =>
    typeof outcome === 'string' ? outcome : outcome.state.coins,
  );
  assert.equal(new Set(coins).size, 40);
  assert.is((await first.writer().current()).state.coins, 40);
  assertChains(first.store);
});

for (const [name, alter] of [
  ['altered', (event: StoredEvent) => Object.assign(event.data as object, { coins: 900 })],
  ['put in from elsewhere', (event: StoredEvent) => Object.assign(event, { id: randomUUID() })],
] as const) {
  test(`nothing is decided on an event that was ${name}, and nothing is appended`, async () => {
    const { store, writer } = start();
    for (const coins of [1, 2, 3]) await writer().run(command(fill(coins)));
    const victim = store.log[1];
    assert.ok(victim);
    alter(victim);
    const later = start(store);
    const error = await later
      .writer()
      .run(command(fill(-1)))
      .catch((reason: unknown) => reason);
    assert.instance(error, BrokenInvariant);
    const place = `${victim.stream}@${victim.revision}: its content does not match its hash`;
    assert.match((error as Error).message, place);
    assert.is(store.log.length, 3);
  });
}

test('a refusal is checked against the latest state, not against a remembered one', async () => {
  const first = start();
  const second = start(first.store);
  await first.writer().run(command(fill(1)));
  await second.writer().run(command(fill(9)));
  const outcome = await outcomeOf(first.writer().run(command(fill(-10))));
  assert.is(typeof outcome === 'string' ? outcome : outcome.state.coins, 0);
});

for (const fate of ['written_unheard', 'lost_unheard'] as const) {
  test(`an append whose answer is lost takes effect once (${fate})`, async () => {
    const { store, writer } = start();
    await writer().run(command(fill(1)));
    let isFirst = true;
    store.fate = () => {
      const current = isFirst ? fate : 'written';
      isFirst = false;
      return current;
    };
    const outcomes = await Promise.all([
      writer().run(command(fill(2), 'a')),
      writer().run(command(fill(3), 'b')),
    ]);
    assert.equal(
      outcomes.map(({ state }) => state.coins),
      [3, 6],
    );
    assert.is(store.log.length, 3);
    assert.is((await writer().run(command(fill(2), 'a'))).replayed, true);
    assertChains(store);
  });
}

test('an unreachable store refuses with 503 and leaves the stream usable', async () => {
  const { store, writer } = start();
  await writer().run(command(fill(1)));
  store.isDown = true;
  assert.is(await outcomeOf(writer().run(command(fill(1)))), 'service_unavailable');
  store.isDown = false;
  assert.is((await writer().run(command(fill(1)))).state.coins, 2);
});

test('the same key takes effect once and is answered alike, at once and later', async () => {
  const { store, writer } = start();
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, () => writer().run(command(fill(7), 'key'))),
  );
  assert.equal(
    new Set(outcomes.map(({ state, revision }) => `${state.coins}@${revision}`)).size,
    1,
  );
  assert.is(outcomes.filter(({ replayed }) => replayed).length, 63);
  await writer().run(command(fill(1)));
  const restarted = start(store);
  const fingerprint = requestFingerprint('POST /jars/1/fill', 'key', {});
  const late = await restarted.writer().replay(fingerprint);
  assert.is(late?.state.coins, 7);
  assert.is(late?.revision, 0);
  assert.is(store.log.length, 2);
});

test('a remembered refusal is the answer for ever, also when it could succeed now', async () => {
  const { store, writer } = start();
  const take: JarDecision = (state) => {
    if (state.coins < 5) throw refusal('There are not enough coins.', { reason: 'limit_reached' });
    return [{ type: 'Filled', data: { coins: -5 } }];
  };
  assert.is(await outcomeOf(writer().run(command(take))), 'invalid_operation');
  assert.is(store.log.length, 0);
  assert.is((await writer().run(command(take, 'key'))).refusal?.code, 'invalid_operation');
  await writer().run(command(fill(9)));
  assert.is((await writer().run(command(take, 'key'))).refusal?.code, 'invalid_operation');
  const restarted = await start(store)
    .writer()
    .replay(requestFingerprint('POST /jars/1/fill', 'key', {}));
  assert.is(restarted?.refusal?.message, 'There are not enough coins.');
  assert.is((await writer().run(command(take, 'other'))).state.coins, 4);
  assertChains(store);
});

test('a keyed request that has nothing to do is answered alike for ever and does nothing', async () => {
  const { store, writer } = start();
  const red = await writer().run(command(rename('red')));
  const first = await writer().run(command(rename('red'), 'key', { name: 'red' }));
  assert.equal(first.events, []);
  assert.is(first.revision, red.revision, 'the record is as it was');
  assert.is(first.replayed, false);
  const blue = await writer().run(command(rename('blue')));
  const fingerprint = requestFingerprint('POST /jars/1/fill', 'key', { name: 'red' });
  const again = [
    await writer().run(command(rename('red'), 'key', { name: 'red' })),
    await start(store)
      .writer()
      .run(command(rename('red'), 'key', { name: 'red' })),
    await start(store).writer().replay(fingerprint),
  ];
  for (const answer of again) {
    assert.equal({ ...answer, position: 0n }, { ...first, position: 0n, replayed: true });
  }
  assert.is((await writer().current()).state.name, 'blue');
  assert.is((await writer().current()).recordRevision, blue.revision);
  const other = command(rename('green'), 'key', { name: 'green' });
  assert.is(await outcomeOf(writer().run(other)), 'idempotency_conflict');
  assertChains(store);
});

test('of requests with one key that wait together one has nothing to do, the others repeat it', async () => {
  const { store, writer } = start();
  await writer().run(command(rename('red')));
  const before = store.log.length;
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, () => writer().run(command(rename('red'), 'key'))),
  );
  assert.is(outcomes.filter(({ replayed }) => replayed).length, 7);
  assert.is(store.log.length, before + 1);
});

test('nothing is kept of what had nothing to do without a key, or without a record', async () => {
  const { store, writer } = start();
  await writer('none').run(command(rename(null), 'key'));
  assert.is(store.log.length, 0);
  await writer().run(command(rename('red')));
  const before = store.log.length;
  await writer().run(command(rename('red')));
  assert.is(store.log.length, before);
});

test('the same key with another body is refused and names the fields', async () => {
  const { writer } = start();
  await writer().run(command(fill(1), 'key', { coins: 1, note: 'x' }));
  try {
    await writer().run(command(fill(2), 'key', { coins: 2, note: 'x' }));
    assert.unreachable();
  } catch (error) {
    assert.is((error as Problem).code, 'idempotency_conflict');
    assert.equal((error as Problem).details, { fields: ['coins'] });
  }
});

test('a unique value goes to one of many that want it at once', async () => {
  const { store, writer } = start();
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      outcomeOf(writer(String(index)).run(command(rename('red')))),
    ),
  );
  assert.is(outcomes.filter((outcome) => outcome === 'already_exists').length, 63);
  assert.is(store.log.filter(({ type }) => type === 'Named').length, 1);
  assertChains(store);
});

test('a unique value that is given up can be taken at once, also by its old holder', async () => {
  const { streams, writer } = start();
  await writer('1').run(command(rename('red')));
  await writer('1').run(command(rename('blue')));
  await writer('2').run(command(rename('red')));
  assert.is(await outcomeOf(writer('1').run(command(rename('red')))), 'already_exists');
  await writer('2').run(command(rename(null)));
  await writer('1').run(command(rename('red')));
  const holderOf = (value: string) =>
    streams.claims.holderOf(jar, 'env_1', { name: 'name', value });
  assert.is(await holderOf('red'), '1');
  assert.is(await holderOf('blue'), null);
});

test('a claim that a dead process left is taken over, and the dead cannot come back', async () => {
  let time = Date.parse('2026-01-01T00:00:00.000Z');
  const now = () => time;
  const dead = start(new MemoryStore(), now);
  const { store } = dead;
  // The owner's own append never gets through: the process stopped right after its claim.
  store.fate = (stream) => (stream.startsWith('jar-') ? 'unavailable' : 'written');
  const release = store.append.bind(store);
  store.append = (stream, events, expected) =>
    events.some(({ type }) => type === 'ValueReleased')
      ? Promise.reject(new Error('dead'))
      : release(stream, events, expected);
  assert.is(await outcomeOf(dead.writer('1').run(command(rename('red')))), 'service_unavailable');
  store.append = release;
  store.fate = () => 'written';
  time += 60_000;
  const heir = start(store, now);
  await heir.writer('2').run(command(rename('red')));
  assert.ok(
    store.log.some(({ type, stream }) => type === 'ClaimRevoked' && stream === 'jar-env_1.1'),
  );
  assert.is(await outcomeOf(dead.writer('1').run(command(rename('red')))), 'already_exists');
  assertChains(store);
});

test('If-Match decides at the revision it names or not at all', async () => {
  const { writer } = start();
  await writer().run(command(fill(1)));
  const at = (expectedRevision: number) => ({ ...command(fill(1)), expectedRevision });
  assert.is((await writer().run(at(0))).revision, 1);
  assert.is(await outcomeOf(writer().run(at(0))), 'precondition_failed');
});

test('time never runs backwards inside a stream', async () => {
  let time = 2_000;
  const { store, writer } = start(new MemoryStore(), () => time);
  await writer().run(command(fill(1)));
  time = 1_000;
  await writer().run(command(fill(1)));
  assert.equal(
    store.log.map(({ metadata }) => metadata.occurred_at),
    [instantOf(2_000), instantOf(2_000)],
  );
});

test('a full mailbox refuses at once and appends nothing for what it refused', async () => {
  const { store, writer } = start();
  const outcomes = await Promise.all(
    Array.from({ length: 2_100 }, () => outcomeOf(writer().run(command(fill(1))))),
  );
  const refused = outcomes.filter((outcome) => outcome === 'service_unavailable').length;
  assert.is(refused, 100);
  assert.is(store.log.length, 2_000);
});

test('a broken decision is an error of its own command only', async () => {
  const { writer } = start();
  const broken: JarDecision = () => [{ type: 'Filled', data: { coins: 'many' } }];
  const outcomes = await Promise.all([
    outcomeOf(writer().run(command(broken))),
    outcomeOf(writer().run(command(fill(1)))),
  ]);
  assert.is(typeof outcomes[0], 'string');
  assert.is(typeof outcomes[1] === 'string' ? '' : outcomes[1]?.state.coins, 1);
});

test.run();
