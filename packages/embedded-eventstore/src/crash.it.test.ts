/** Kills the process under load, several times on the same files, and accounts for every event. */
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { EventStoreDBClient, type JSONEventType, NO_STREAM } from '@eventstore/db-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EventStoreProcess, startEventStoreProcess } from './child-process.ts';
import { openStorage } from './storage.ts';
import { collect, gate, numbered, refusal, temporaryDirectory } from './test-server.ts';

const test = suite<{ directory: string }>('crash');

test.before.each(async (context) => {
  context.directory = await temporaryDirectory();
});
test.after.each(({ directory }) => rm(directory, { recursive: true }));

type Numbered = JSONEventType<'Numbered', { number: number }>;

const BATCH = 3;
const WRITERS = 8;

interface Attempt {
  readonly stream: string;
  readonly numbers: readonly number[];
  readonly expected: typeof NO_STREAM | bigint;
  position?: bigint;
}

interface Writer {
  readonly stream: string;
  next: number;
  last: bigint;
}

/** Appends one batch after the other until the server is gone. */
async function writeUntilGone(
  client: EventStoreDBClient,
  writer: Writer,
  attempts: Attempt[],
): Promise<void> {
  for (;;) {
    const numbers = Array.from({ length: BATCH }, (_, index) => writer.next + index);
    const expected = writer.last < 0n ? NO_STREAM : writer.last;
    const attempt: Attempt = { stream: writer.stream, numbers, expected };
    attempts.push(attempt);
    try {
      const result = await client.appendToStream(writer.stream, numbered(...numbers), {
        expectedRevision: expected,
      });
      attempt.position = result.position?.commit ?? 0n;
    } catch {
      return;
    }
    writer.next += BATCH;
    writer.last += BigInt(BATCH);
  }
}

test('kill -9 under load loses nothing that was acknowledged', async ({ directory }) => {
  const writers: Writer[] = Array.from({ length: WRITERS }, (_, index) => ({
    stream: `crash-${index}`,
    next: index * 1_000_000,
    last: -1n,
  }));
  const acknowledged: Attempt[] = [];
  let server: EventStoreProcess = await startEventStoreProcess({ directory });
  for (let round = 0; round < 4; round += 1) {
    const client = EventStoreDBClient.connectionString(server.connectionString);
    const attempts: Attempt[] = [];
    const load = writers.map((writer) => writeUntilGone(client, writer, attempts));
    await untilWritten(client, (20 + round * 37) * BATCH);
    server.kill();
    await Promise.all(load);
    await client.dispose();

    server = await startEventStoreProcess({ directory });
    const reader = EventStoreDBClient.connectionString(server.connectionString);
    acknowledged.push(...attempts.filter((attempt) => attempt.position !== undefined));
    await checkInFlight(reader, writers, attempts);
    await checkAll(reader, acknowledged);
    await reader.dispose();
  }
  await server.stop();
  assert.ok(acknowledged.length > 100);
});

/** Waits until a subscriber has seen this many more events. */
async function untilWritten(client: EventStoreDBClient, count: number): Promise<void> {
  const subscription = client.subscribeToAll({ fromPosition: 'end' });
  // The server is killed while this subscription is open.
  subscription.on('error', () => {});
  let seen = 0;
  await new Promise<void>((resolve) => {
    subscription.on('data', () => {
      seen += 1;
      if (seen === count) resolve();
    });
  });
}

/** Checks that an unanswered append is there completely or not at all, and that sending it again settles it. */
async function checkInFlight(
  client: EventStoreDBClient,
  writers: readonly Writer[],
  attempts: readonly Attempt[],
): Promise<void> {
  const unanswered = attempts.filter((attempt) => attempt.position === undefined);
  for (const { stream, numbers, expected } of unanswered) {
    const before = await numbersOf(client, stream);
    const present = numbers.filter((number) => before.includes(number));
    assert.ok(present.length === 0 || present.length === BATCH, `${present.length} of ${BATCH}`);
    const again = await client.appendToStream(stream, numbered(...numbers), {
      expectedRevision: expected,
    });
    const after = await numbersOf(client, stream);
    assert.is(after.length, before.length + BATCH - present.length);
    assert.equal(after.slice(-BATCH), numbers);
    const writer = writers.find((candidate) => candidate.stream === stream);
    assert.ok(writer);
    writer.next += BATCH;
    writer.last = again.nextExpectedRevision;
    assert.is(again.nextExpectedRevision, BigInt(after.length - 1));
  }
}

async function numbersOf(client: EventStoreDBClient, stream: string): Promise<number[]> {
  try {
    const events = await collect(client.readStream<Numbered>(stream));
    return events.map(({ event }) => event?.data.number ?? -1);
  } catch (error) {
    if (error instanceof Error && 'type' in error && error.type === 'stream-not-found') return [];
    throw error;
  }
}

async function checkAll(
  client: EventStoreDBClient,
  acknowledged: readonly Attempt[],
): Promise<void> {
  const revisions = new Map<string, bigint>();
  const positions = new Map<number, bigint>();
  let last = 0n;
  for await (const { event } of client.readAll()) {
    assert.ok(event);
    const { number } = event.data as Numbered['data'];
    const commit = event.position?.commit ?? 0n;
    assert.ok(commit > last, 'positions increase');
    last = commit;
    assert.is(event.revision, (revisions.get(event.streamId) ?? -1n) + 1n, 'no gap');
    revisions.set(event.streamId, event.revision);
    assert.not(positions.has(number), 'no event twice');
    positions.set(number, commit);
  }
  for (const { numbers, position } of acknowledged) {
    assert.is(positions.get(numbers.at(-1) ?? -1), position);
    for (const number of numbers) assert.ok(positions.has(number), `event ${number} is missing`);
  }
}

test('a full disk stops the store and loses nothing that was acknowledged', async ({
  directory,
}) => {
  // The limit on the size of a file stands in for a full disk: writing fails in the same way.
  if (spawnSync('prlimit', ['--version']).error !== undefined) return;
  let said = '';
  const exit = gate();
  const codes: (number | null)[] = [];
  let server = await startEventStoreProcess({
    directory,
    onErrorOutput: (text) => {
      said += text;
    },
    onExit: ({ code }) => {
      codes.push(code);
      exit.open();
    },
  });
  spawnSync('prlimit', ['--pid', String(server.pid), '--fsize=1500000:1500000']);
  const client = EventStoreDBClient.connectionString(server.connectionString);
  const acknowledged: number[] = [];
  const error = await refusal(async () => {
    for (let number = 0; ; number += 1) {
      await client.appendToStream('full-1', [
        ...numbered(number),
        ...numbered(1_000_000 + number).map((event) => ({
          ...event,
          data: { number: event.data.number, text: 'x'.repeat(50_000) },
        })),
      ]);
      acknowledged.push(number, 1_000_000 + number);
    }
  });
  assert.is(error.type, 'unavailable');
  assert.ok(acknowledged.length > 10);
  await client.dispose();
  await exit.opened;
  assert.equal(codes, [1]);
  assert.match(said, 'event store: stopped because a commit failed');
  server = await startEventStoreProcess({ directory });
  const reader = EventStoreDBClient.connectionString(server.connectionString);
  const stored = await numbersOf(reader, 'full-1');
  assert.equal(stored.slice(0, acknowledged.length), acknowledged);
  await reader.dispose();
  await server.stop();
  await (await openStorage(directory)).close();
});

test.run();
