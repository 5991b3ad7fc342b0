/** A proof that can be made short or long: what becomes of deliveries while everything is killed. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as assert from 'uvu/assert';
import { startProcess } from './test-process.ts';
import type { Receiver } from './test-receiver.ts';
import { eventually, type World } from './test-world.ts';

const environment = 'env_1';
const resources = 30;
const endpoints = 3;
const inFlight = 24;

/** The part that is killed with SIGKILL and started again. */
export type Victim = 'worker' | 'postgres' | 'nats';

/** The result of the run. */
export interface KillsReport {
  readonly expected: number;
  readonly duplicates: number;
  /** As many as may come twice. */
  readonly bound: number;
}

/** A worker that is started again each time that it has been killed, or could not start. */
class KeptWorker {
  readonly #world: World;
  #child: ChildProcess | null = null;
  #isKept = true;
  readonly #kept: Promise<void>;

  constructor(world: World) {
    this.#world = world;
    this.#kept = this.#keep();
  }

  async #keep(): Promise<void> {
    while (this.#isKept) {
      try {
        const { child } = await startProcess(this.#world, {
          WEBHOOK_MAX_IN_FLIGHT: String(inFlight),
          WEBHOOK_LEASE_MS: '2000',
        });
        this.#child = child;
        if (!this.#isKept) child.kill('SIGTERM');
        await once(child, 'exit');
      } catch {
        // PostgreSQL is away at this moment.
      }
      this.#child = null;
    }
  }

  /** Kills the worker as soon as there is one. */
  async kill(): Promise<void> {
    await eventually('a worker is there', () => this.#child !== null);
    this.#child?.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#isKept = false;
    this.#child?.kill('SIGTERM');
    await this.#kept;
  }
}

/** Publishes until the broker has it. A message that it has twice is told by its position. */
async function publishSurely(world: World, resource: number, round: number, position: bigint) {
  const id = `cust_${resource}`;
  const message = { environment, resourceId: id, body: { customer: { id, round } }, position };
  await eventually('published', () =>
    world.publish(message).then(
      () => true,
      () => false,
    ),
  );
}

/** Returns the rounds that came to one endpoint, by resource, in the order in which they came. */
function roundsByGroup(receiver: Receiver): ReadonlyMap<string, readonly number[]> {
  const groups = new Map<string, number[]>();
  for (const { path, body } of receiver.received) {
    const { customer } = JSON.parse(body);
    const key = `${path} ${customer.id}`;
    const rounds = groups.get(key) ?? [];
    rounds.push(customer.round);
    groups.set(key, rounds);
  }
  return groups;
}

/** Publishes so many rounds of events about each resource. */
async function publishRounds(world: World, rounds: number): Promise<void> {
  let position = 10_000n;
  for (let round = 0; round < rounds; round += 1) {
    for (let resource = 0; resource < resources; resource += 1) {
      position += 10n;
      await publishSurely(world, resource, round, position);
    }
  }
}

const kill = (world: World, worker: KeptWorker, victim: Victim): Promise<void> => {
  switch (victim) {
    case 'worker':
      return worker.kill();
    case 'postgres':
      return world.servers.crashPostgres();
    case 'nats':
      return world.servers.crashNats();
    default:
      return victim satisfies never;
  }
};

/**
 * Kills the victims, each in the midst of deliveries, and checks that everything has come to every
 * endpoint, in order of each resource, and no more of it twice than was under way.
 */
export async function proveKills(
  world: World,
  receiver: Receiver,
  { victims, rounds }: { readonly victims: readonly Victim[]; readonly rounds: number },
): Promise<KillsReport> {
  for (let index = 0; index < endpoints; index += 1) {
    await world.addEndpoint({ url: `${receiver.url}/${index}`, environment_id: environment });
  }
  const expected = endpoints * resources * rounds;
  const worker = new KeptWorker(world);
  const publishing = publishRounds(world, rounds);
  const distinct = () => new Set(receiver.received.map(({ path, id }) => `${path} ${id}`)).size;
  try {
    const share = Math.floor(expected / (3 * victims.length));
    for (const victim of victims) {
      const next = receiver.received.length + share;
      await eventually('deliveries go on', () => receiver.received.length >= next);
      await kill(world, worker, victim);
    }
    await publishing;
    // However slow the machine is, something has to come all the time.
    while (distinct() < expected) {
      const before = distinct();
      await eventually('deliveries go on', () => distinct() > before);
    }
  } finally {
    await worker.stop();
  }
  for (const [group, came] of roundsByGroup(receiver)) {
    assert.equal(
      came,
      came.toSorted((left, right) => left - right),
      group,
    );
    assert.is(new Set(came).size, rounds, group);
  }
  const duplicates = receiver.received.length - expected;
  const bound = victims.length * inFlight;
  assert.ok(duplicates <= bound, `${duplicates} came twice, of at most ${bound}`);
  return { expected, duplicates, bound };
}
