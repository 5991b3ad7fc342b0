import { refusal } from '@counterfoil/kernel';
import { MemoryStore } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AppendError } from '../log/types.ts';
import { runPrepared } from './command.ts';
import { OwnedElsewhere } from './ownership.ts';
import { requestFingerprint } from './request-fingerprint.ts';
import { command, fill, type JarDecision, jar, outcomeOf, rename, startOn } from './test-jar.ts';

const test = suite('stream races');

const start = (store = new MemoryStore(), now?: () => number) => startOn(store, now);

/** Runs something right before the first append to a stream goes out. */
function beforeAppend(store: MemoryStore, stream: string, work: () => Promise<void>): void {
  const append = store.append.bind(store);
  let isFirst = true;
  store.append = async (name, events, expected) => {
    if (name === stream && isFirst) {
      isFirst = false;
      await work();
    }
    return append(name, events, expected);
  };
}

test('If-Match names the revision of the record, whatever the engine noted after it', async () => {
  const { writer } = start();
  const first = await writer().run(command(fill(1)));
  const refused: JarDecision = () => {
    throw refusal('Not now.', { reason: 'ended' });
  };
  assert.is((await writer().run(command(refused, 'key'))).refusal?.message, 'Not now.');
  const unchanged = await writer().run(command(() => []));
  assert.is(unchanged.revision, first.revision);
  const next = { ...command(fill(1)), expectedRevision: first.revision };
  assert.is((await writer().run(next)).state.coins, 2);
});

test('a claim does not outlive the value that the record has given up meanwhile', async () => {
  const slow = start();
  const fast = start(slow.store);
  beforeAppend(slow.store, 'jar-env_1.1', async () => {
    await fast.writer('1').run(command(rename('red')));
    await fast.writer('1').run(command(rename(null)));
  });
  await slow.writer('1').run(command(rename('red')));
  assert.is(await outcomeOf(fast.writer('2').run(command(rename('red')))), 'already_exists');
  const holder = await fast.streams.claims.holderOf(jar, 'env_1', { name: 'name', value: 'red' });
  assert.is(holder, '1');
});

test('a value that was to be given up stays taken when the decision turns out otherwise', async () => {
  const second: Record<string, JarDecision> = {
    refused: () => {
      throw refusal('Not now.', { reason: 'ended' });
    },
    'without effect': () => [],
    another: fill(1),
  };
  for (const [name, otherwise] of Object.entries(second)) {
    const { writer } = start();
    await writer('1').run(command(rename('red')));
    let isFirst = true;
    const decide: JarDecision = (state, at) => {
      const decision = isFirst ? rename(null) : otherwise;
      isFirst = false;
      return decision(state, at);
    };
    await writer('1').run(command(decide, 'key'));
    assert.is((await writer('1').current()).state.name, 'red', name);
    assert.is(await outcomeOf(writer('2').run(command(rename('red')))), 'already_exists', name);
  }
});

test('a repetition is answered although its value belongs to another record by now', async () => {
  const behind = start();
  const other = start(behind.store);
  const fingerprint = requestFingerprint('POST /jars/1/fill', 'key', {});
  assert.is(await behind.writer('1').replay(fingerprint), null);
  await other.writer('1').run(command(rename('red'), 'key'));
  await other.writer('1').run(command(rename(null)));
  await other.writer('2').run(command(rename('red')));
  const again = await outcomeOf(behind.writer('1').run(command(rename('red'), 'key')));
  assert.is(typeof again === 'string' ? again : again.state.name, 'red');
});

test('an outcome that stays unknown is not told as if nothing had been written', async () => {
  const { store, writer } = start();
  store.fate = () => 'lost_unheard';
  assert.is(await outcomeOf(writer().run(command(fill(1), 'key'))), 'service_unavailable');
});

test('only a caller with a precondition is told of a conflict; the others wait, and are told to come back', async () => {
  const { store, writer } = startOn(new MemoryStore(), undefined, { patience: 50 });
  const { revision } = await writer().run(command(fill(1)));
  store.fate = () => 'conflict';
  const conditional = { ...command(fill(1), 'other'), expectedRevision: revision };
  assert.is(await outcomeOf(writer().run(conditional)), 'version_conflict');
  assert.is(await outcomeOf(writer().run(command(fill(1), 'patient'))), 'service_unavailable');
  let lost = 0;
  store.fate = () => {
    lost += 1;
    return lost > 12 ? 'written' : 'conflict';
  };
  const waited = await outcomeOf(writer().run(command(fill(1), 'patient')));
  assert.is(typeof waited === 'string' ? waited : waited.state.coins, 2);
});

const elsewhereBy = (lost: string[], owner: () => string | null) => ({
  lost: (stream: string) => lost.push(stream),
  ownerElsewhere: (stream: string) => (lost.includes(stream) ? owner() : null),
});

test('a command that lost to others, and those behind it, go to the owner if they may', async () => {
  const lost: string[] = [];
  const ownership = elsewhereBy(lost, () => 'other');
  const { store, writer } = startOn(new MemoryStore(), undefined, { ownership });
  await writer().run(command(fill(1)));
  let isFirst = true;
  store.fate = () => {
    const fate = isFirst ? 'conflict' : 'written';
    isFirst = false;
    return fate;
  };
  const movable = (key: string) => ({ ...command(fill(1), key), mayGoElsewhere: true });
  const settled = await Promise.allSettled([
    writer().run(movable('one')),
    writer().run(command(fill(1), 'stays')),
    writer().run(movable('two')),
  ]);
  assert.equal(
    settled.map((each) => (each.status === 'fulfilled' ? 'decided' : each.reason.name)),
    ['OwnedElsewhere', 'decided', 'OwnedElsewhere'],
  );
  assert.equal(lost, ['jar-env_1.1']);
  const later = await writer()
    .run(movable('three'))
    .catch((reason: Error) => reason);
  assert.instance(later, OwnedElsewhere);
  assert.is((await writer().current()).state.coins, 2);
});

test('a command that belongs elsewhere goes there before it is prepared, and a repetition as well', async () => {
  const lost: string[] = [];
  const ownership = elsewhereBy(lost, () => 'other');
  const { store, writer } = startOn(new MemoryStore(), undefined, { ownership });
  await writer().run(command(fill(1), 'key'));
  lost.push('jar-env_1.1');
  const { decide: _, ...about } = command(fill(1), 'key');
  const nothing = { prepare: () => assert.unreachable() as never };
  const readStream = store.readStream.bind(store);
  store.readStream = () => assert.unreachable() as never;
  const moved = runPrepared(writer(), nothing, { ...about, mayGoElsewhere: true });
  assert.instance(await moved.catch((reason: Error) => reason), OwnedElsewhere);
  store.readStream = readStream;
  assert.is((await runPrepared(writer(), nothing, about)).replayed, true);
});

test('a command whose append may have been written is not decided elsewhere', async () => {
  const lost = ['jar-env_1.1'];
  let isOwned = false;
  const ownership = elsewhereBy(lost, () => (isOwned ? 'other' : null));
  const { store, writer } = startOn(new MemoryStore(), undefined, { ownership });
  await writer().run(command(fill(1)));
  store.fate = () => {
    isOwned = true;
    return 'lost_unheard';
  };
  const movable = { ...command(fill(1), 'key'), mayGoElsewhere: true };
  assert.is(await outcomeOf(writer().run(movable)), 'service_unavailable');
});

test('events that the log brings before an append is given up are the append', async () => {
  const { store, writer } = start();
  await writer().run(command(fill(1)));
  const append = store.append.bind(store);
  store.append = async (...given) => {
    await append(...given);
    store.append = append;
    await writer().current();
    throw new AppendError('unknown_outcome', 'no answer in time');
  };
  assert.is((await writer().run(command(fill(2)))).state.coins, 3);
  assert.is((await writer().current()).state.coins, 3, 'it took effect once');
});

test('a change that is too large for the store takes no other down with it', async () => {
  const { store, writer } = start();
  const append = store.append.bind(store);
  const limit = 1_000_000;
  const manyFills: JarDecision = () =>
    Array.from({ length: 4_000 }, () => ({ type: 'Filled', data: { coins: 1 } }));
  store.append = (stream, events, expected) =>
    JSON.stringify(events).length > limit
      ? Promise.reject(new AppendError('too_large', 'too large'))
      : append(stream, events, expected);
  const outcomes = await Promise.all([
    outcomeOf(writer().run(command(fill(1)))),
    outcomeOf(writer().run(command(manyFills))),
    outcomeOf(writer().run(command(fill(2)))),
  ]);
  assert.equal(
    outcomes.map((outcome) => (typeof outcome === 'string' ? outcome : outcome.state.coins)),
    [1, 'payload_too_large', 3],
  );
});

test.run();
