import { setTimeout as pause } from 'node:timers/promises';
import { verify } from '@counterfoil/cli/verify';
import * as assert from 'uvu/assert';
import { type Answer, type Caller, caller } from '../caller.ts';
import { startStack } from '../stack.ts';
import { type ApiProcess, startApiProcess } from './api-processes.ts';
import { type Acknowledged, acknowledged, type Movement, send } from './movements.ts';
import { openings } from './openings.ts';
import { assertLedgers } from './truth.ts';

/** The faults of an owner: killed, standing still, cut off from NATS, and one that hears nobody. */
const kinds = ['kill', 'stop', 'cut', 'deaf'] as const;

export interface OwnerFaults {
  readonly faults: number;
  /** Milliseconds for which a process stands still, and for which one is cut off at most. */
  readonly holdMilliseconds: number;
  /** Between two requests of a client, in milliseconds, so that the load leaves room on a small machine. */
  readonly restMilliseconds: number;
  readonly print: (line: string) => void;
}

/** The figures of a run. */
export interface OwnerFaultsResult {
  readonly movements: number;
  readonly handedOver: number;
  readonly withoutOwner: number;
  /** The longest that a process which had no fault meanwhile took to answer, in milliseconds. */
  readonly slowestOfHealthy: number;
  /** The latest fault when that request was sent, and how long before it. */
  readonly slowestAfter: string;
}

/** Requests that are handed to a process that is cut off fail within a second: longer shows nothing else. */
const cutMilliseconds = 4_000;
const processCount = 3;
const walletCount = 2;
const clientsPerWallet = 4;
/** A client that gets no answer asks another process. */
const patienceMilliseconds = 2_500;
const insistMilliseconds = 300_000;
/** Between two looks at who the owner is. */
const lookMilliseconds = 40;

/**
 * Three processes of the api under clients who ask any of them, while their owners are killed, stand still, or
 * are cut off from NATS, so that two believe they own a record. Asserts that what was acknowledged is there once and
 * nothing else is, that every repetition at any process has the same answer, that nobody without a precondition was
 * told of a conflict, and that all chains and read models are whole.
 */
export async function assertOwnersMayFail(options: OwnerFaults): Promise<OwnerFaultsResult> {
  const opened = openings();
  try {
    const stack = opened.add(await startStack(), (one) => one.stop());
    const tenant = await stack.tenant('owners');
    const walletIds = await Promise.all(
      Array.from({ length: walletCount }, (_, index) => openWallet(tenant, `owner-${index}`)),
    );
    // Only processes that can be killed are to be members.
    await stack.parts.api.stop();
    const processes = await Promise.all(
      Array.from({ length: processCount }, () => startApiProcess(stack, opened)),
    );
    const run = new Run(processes, walletIds, tenant.apiKey, options);
    await run.throughFaults();
    await stack.parts.api.start();
    await assertLedgers(tenant, walletIds, run.acknowledged);
    await run.assertRepeated();
    const lines: string[] = [];
    const isClean = await verify(stack, (line) => lines.push(line));
    assert.ok(isClean, lines.join('\n'));
    return await run.result();
  } finally {
    await opened.closeAll();
  }
}

async function openWallet(tenant: Caller, name: string): Promise<string> {
  const customer = await tenant.ok('POST', '/customers', { external_id: name, name });
  const body = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '1000000' };
  return (await tenant.ok('POST', '/wallets', body)).id;
}

interface Target {
  readonly process: ApiProcess;
  readonly caller: Caller;
  /** Counts the changes of its health: an odd number while it has a fault. */
  changes: number;
}

class Run {
  readonly acknowledged: Acknowledged[] = [];
  readonly #answers = new Map<string, string>();
  readonly #targets: readonly Target[];
  readonly #walletIds: readonly string[];
  readonly #options: OwnerFaults;
  #isOver = false;
  #begun = 0;
  #latestFault = { name: 'no fault', at: 0 };
  #slowest = { milliseconds: 0, after: '' };

  constructor(
    processes: readonly ApiProcess[],
    walletIds: readonly string[],
    apiKey: string,
    options: OwnerFaults,
  ) {
    this.#targets = processes.map((process) => ({
      process,
      caller: caller(process.baseUrl, apiKey),
      changes: 0,
    }));
    this.#walletIds = walletIds;
    this.#options = options;
  }

  async throughFaults(): Promise<void> {
    const clients = this.#walletIds.flatMap((id) =>
      Array.from({ length: clientsPerWallet }, () => this.#client(id)),
    );
    const load = Promise.all(clients);
    load.catch(() => undefined);
    try {
      await this.#haveFaults();
    } finally {
      this.#isOver = true;
    }
    await load;
  }

  async #haveFaults(): Promise<void> {
    const restarts = new Map<Target, Promise<void>>();
    for (let number = 0; number < this.#options.faults; number += 1) {
      const kind = kinds[number % kinds.length] ?? 'kill';
      const target = await this.#owner();
      // One that is still starting is not there to have a fault.
      await restarts.get(target);
      target.changes += 1;
      this.#latestFault = { name: `fault ${number + 1}, ${kind}`, at: performance.now() };
      const { process } = target;
      if (kind === 'kill') {
        const restart = process.killAndRestart().then(() => {
          target.changes += 1;
        });
        restart.catch(() => undefined);
        restarts.set(target, restart);
        continue;
      }
      if (kind === 'stop') process.signal('SIGSTOP');
      else process.nats.fault(kind);
      await pause(this.#holdOf(kind));
      if (kind === 'stop') process.signal('SIGCONT');
      else process.nats.mend();
      target.changes += 1;
      if (number % 20 === 19) this.#options.print(`${number + 1} faults`);
    }
    await Promise.all(restarts.values());
  }

  /** A process that stands still is to miss more than one that hears nobody, which works on. */
  #holdOf(kind: (typeof kinds)[number]): number {
    const { holdMilliseconds } = this.#options;
    return kind === 'stop' ? holdMilliseconds : Math.min(holdMilliseconds, cutMilliseconds);
  }

  /** The process to which most was handed over since it was last asked: the owner, mostly. */
  async #owner(): Promise<Target> {
    const taken = () =>
      Promise.all(
        this.#targets.map(({ process }) =>
          process.counter('counterfoil_requests_taken_over_total'),
        ),
      );
    const before = await taken();
    await pause(lookMilliseconds);
    const growth = (await taken()).map((count, index) => count - (before[index] ?? 0));
    const place = Math.max(...growth) > 0 ? growth.indexOf(Math.max(...growth)) : this.#begun;
    const target = this.#targets[place % this.#targets.length];
    assert.ok(target);
    return target;
  }

  async #client(walletId: string): Promise<void> {
    while (!this.#isOver) {
      this.#begun += 1;
      const kind = this.#begun % 3 === 0 ? 'top-up' : 'debit';
      const credits = String(1 + (this.#begun % 7));
      await this.#insist({ walletId, kind, credits, key: `owners-${this.#begun}` });
      await pause(this.#options.restMilliseconds);
    }
  }

  async #insist(movement: Movement): Promise<void> {
    const deadline = performance.now() + insistMilliseconds;
    let last = 'no answer';
    while (performance.now() < deadline) {
      const target = this.#targets[Math.floor(Math.random() * this.#targets.length)];
      assert.ok(target);
      const answer = await this.#ask(target, movement);
      if (typeof answer !== 'string' && answer.status < 300) {
        this.acknowledged.push(acknowledged(movement, answer));
        this.#answers.set(movement.key, answer.text);
        return;
      }
      last = typeof answer === 'string' ? answer : `${answer.status} ${answer.text}`;
      if (typeof answer !== 'string' && answer.status < 500) break;
    }
    throw new Error(`${movement.kind} ${movement.key} was not acknowledged: ${last}`);
  }

  async #ask(target: Target, movement: Movement): Promise<Answer | string> {
    const { changes } = target;
    const fault = this.#latestFault;
    const sentAt = performance.now();
    const answer = await Promise.race([
      send(target.caller, movement).catch(String),
      pause(patienceMilliseconds, 'no answer in time', { ref: false }),
    ]);
    const isHealthy = changes % 2 === 0 && target.changes === changes;
    const milliseconds = performance.now() - sentAt;
    if (isHealthy && milliseconds > this.#slowest.milliseconds) {
      const after = `${Math.round(sentAt - fault.at)} ms after ${fault.name}`;
      this.#slowest = { milliseconds, after };
    }
    return answer;
  }

  /** Repeats every acknowledged request at every process, in the order in which they were acknowledged. */
  async assertRepeated(): Promise<void> {
    for (const { caller: one } of this.#targets) {
      const waiting = this.acknowledged[Symbol.iterator]();
      const repeat = async (): Promise<void> => {
        for (const movement of waiting) {
          const { status, text, headers } = await send(one, movement);
          assert.is(status, 200, text);
          assert.is(text, this.#answers.get(movement.key), movement.key);
          assert.is(headers.get('idempotency-replayed'), 'true', movement.key);
        }
      };
      await Promise.all(Array.from({ length: 8 }, repeat));
    }
    this.#options.print(
      `${this.acknowledged.length} requests repeated at each of ${this.#targets.length} processes`,
    );
  }

  async result(): Promise<OwnerFaultsResult> {
    const sum = async (name: string): Promise<number> => {
      const counts = await Promise.all(this.#targets.map(({ process }) => process.counter(name)));
      return counts.reduce((total, count) => total + count, 0);
    };
    return {
      movements: this.acknowledged.length,
      handedOver: await sum('counterfoil_requests_handed_over_total'),
      withoutOwner: await sum('counterfoil_decisions_without_owner_total'),
      slowestOfHealthy: this.#slowest.milliseconds,
      slowestAfter: this.#slowest.after,
    };
  }
}
