import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNats } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectNats } from '../nats/nats-connection.ts';
import { openMessages } from '../nats/nats-messages.ts';
import { createMetrics } from '../operations/metrics.ts';
import { silentLog as log, until } from '../projection/test-world.ts';
import { joinMembers } from './handover.ts';

const test = suite('members that hand over');

const secret = new Uint8Array(32).fill(7);

/** Three members on a broker, with a clock that the test sets and a stream that the last of them owns. */
async function world() {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-handover-'));
  const broker = await startNats({ directory });
  const time = { now: 1_000_000 };
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing) await end();
    await broker.stop();
    await rm(directory, { recursive: true });
  };
  const come = async (name: string) => {
    const nats = await connectNats({ url: broker.url, name, log, firstWait: 100 });
    const metrics = createMetrics({ processMetrics: false });
    const member = joinMembers<string, string>({
      nats,
      secret,
      metrics,
      clock: () => time.now,
    });
    closing.push(() => member.close().then(() => nats.close()));
    const open = (): void =>
      member.open(async (request) => {
        if (request === 'dropped') await nats.close();
        return { value: `${request} at ${name}`, bytes: 10 };
      });
    return { member, metrics, open };
  };
  const joinAs = async (name: string) => {
    const joined = await come(name);
    joined.open();
    return joined;
  };
  try {
    const joined = [await joinAs('a'), await joinAs('b'), await joinAs('owner')] as const;
    const [a, b, owner] = joined.map(({ member }) => member) as [Member, Member, Member];
    await until('all three know one another', () =>
      joined.every(({ member }) => member.members().length === 3),
    );
    const stream = ownedBy(owner.members()[0]?.id ?? '', a);
    const metricsOfA = () => joined[0].metrics.registry.metrics();
    return { time, stream, a, b, owner, come, metricsOfA, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Member = ReturnType<typeof joinMembers<string, string>>;

/** Another writer was faster twice. */
function lose(member: Member, stream: string): void {
  member.lost(stream);
  member.lost(stream);
}

/** A stream that a member hands to another one, once it is contended. */
function ownedBy(id: string, by: Member): string {
  for (let number = 0; ; number += 1) {
    const stream = `wallet-env_1.${number}`;
    lose(by, stream);
    if (by.ownerElsewhere(stream) === id) return stream;
  }
}

/** Hands a request over, as it would be when it came to a member. */
async function ask(member: Member, stream: string, value = 'filled'): Promise<string | null> {
  const owner = member.ownerElsewhere(stream);
  if (owner === null) return null;
  return member.handOver({ stream, owner }, { value, bytes: 10 }, performance.now());
}

test('a stream goes to its owner as long as others write to it, and no longer', async () => {
  const { time, stream, a, b, owner, close } = await world();
  try {
    lose(b, stream);
    for (let round = 0; round < 4; round += 1) {
      const asked = [await ask(a, stream), await ask(b, stream)];
      assert.equal(asked, ['filled at owner', 'filled at owner'], `round ${round}`);
      time.now += 4_000;
    }
    // One of them and the owner itself are two as well.
    for (let round = 0; round < 3; round += 1) {
      assert.is(owner.ownerElsewhere(stream), null);
      assert.is(await ask(a, stream), 'filled at owner');
      time.now += 4_000;
    }
    assert.is(await ask(b, stream), null, 'it has heard nothing for longer than five seconds');
    assert.is(await ask(a, stream), 'filled at owner');
    time.now += 4_999;
    assert.is(await ask(a, stream), 'filled at owner', 'alone by now');
    time.now += 1;
    assert.is(await ask(a, stream), null);
  } finally {
    await close();
  }
});

test('one that is not open yet knows the others, and they hear of it when it is', async () => {
  const { a, b, come, close } = await world();
  try {
    const { member, open } = await come('newcomer');
    await until('it knows the others', () => member.members().length === 4);
    assert.equal([a.members().length, b.members().length], [3, 3]);
    open();
    await until('the others know it', () => a.members().length === 4 && b.members().length === 4);
  } finally {
    await close();
  }
});

test('one that has stood still is silent for a turn', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-handover-'));
  const broker = await startNats({ directory });
  const [nats, listening] = [
    await connectNats({ url: broker.url, name: 'alone', log, firstWait: 100 }),
    await connectNats({ url: broker.url, name: 'listening', log, firstWait: 100 }),
  ];
  const seen: string[] = [];
  const messages = openMessages(listening, {
    subjects: ['counterfoil.api.*.members'],
    onOpen: () => undefined,
    take: () => seen.push('announced'),
  });
  await until('it listens', () => messages.isOpen());
  // It asks for the time as often as it has a turn. Two seconds pass before the second one.
  let now = 0;
  const clock = () => {
    const turn = seen.filter((one) => one === 'turn').length + 1;
    seen.push('turn');
    now += turn === 3 ? 2_000 : 1_000;
    return now;
  };
  const metrics = createMetrics({ processMetrics: false });
  const member = joinMembers<string, string>({ nats, secret, metrics, clock });
  try {
    member.open(async () => null);
    await until('four turns', () => seen.filter((one) => one === 'announced').length === 4);
    assert.equal(seen, [
      ...['turn', 'announced'],
      ...['turn', 'announced'],
      'turn',
      ...['turn', 'announced'],
      ...['turn', 'announced'],
    ]);
  } finally {
    await member.close();
    await messages.close();
    await Promise.all([nats.close(), listening.close()]);
    await broker.stop();
    await rm(directory, { recursive: true });
  }
});

test('the loss of an owner is noticed while all wait for it', async () => {
  const { stream, a, metricsOfA, close } = await world();
  try {
    assert.is(await ask(a, stream, 'dropped'), null);
    const lines = (await metricsOfA()).split('\n');
    const counts = lines.filter((line) => line.startsWith('counterfoil_decisions_without_owner'));
    assert.equal(counts, ['counterfoil_decisions_without_owner_total{reason="gone"} 1']);
    assert.is(a.members().length, 2);
  } finally {
    await close();
  }
});

test.run();
