import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { verify } from '@counterfoil/cli/verify';
import { freePort, isRunning } from '@counterfoil/local';
import type { NatsConnection } from 'nats';
import { Client } from 'pg';
import * as assert from 'uvu/assert';
import { type Answer, type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { connectWith } from './gateway-clients.ts';
import { untilAccepted } from './insist.ts';
import {
  type Installation,
  type ProcessName,
  processNames,
  startInstallation,
} from './installation.ts';
import { openings } from './openings.ts';
import { sendUsage, type UsageCredentials } from './usage-senders.ts';

/** Clients that send usage at the same time, half of them over NATS, and the events of each of their requests. */
const clients = 4;
const eventsOfRequest = 25;
/** Between two requests of a client, so that the load leaves room on a small machine. */
const restMilliseconds = 20;
/** One of so many requests is sent again when it is acknowledged, as by a client that missed the answer. */
const repeatedEvery = 3;

/**
 * Takes usage in on a real installation while its processes are killed, one after the other, and then holds the
 * tables against what was acknowledged, and against the log. Each kill is followed by another when new usage is
 * acknowledged and shown.
 */
export async function recordUnderKills(victims: readonly ProcessName[]): Promise<void> {
  const opened = openings();
  try {
    const folder = opened.add(
      mkdtempSync(join(tmpdir(), 'counterfoil-usage-kills-')),
      async (path) => rmSync(path, { recursive: true, force: true }),
    );
    const settings = { LOG_LEVEL: 'error', RATE_LIMIT_PER_SECOND: '1000000' };
    const installation = await startInstallation({ folder, port: await freePort(), settings });
    opened.add(null, () => endEverything(installation));
    const api = caller(installation.baseUrl, installation.apiKey);
    const issued: UsageCredentials = await api.ok('POST', '/usage/credentials', { name: 'kills' });
    const connection = opened.add(
      await eventually(() => connectWith(issued).catch(() => false as const)),
      (link) => link.close(),
    );
    const load = startUsage([overHttp(api), overNats(connection, issued)]);
    for (const victim of victims) {
      const pid = await untilRuns(installation, victim);
      await load.untilSent();
      process.kill(pid, 'SIGKILL');
      await untilRuns(installation, victim, pid);
      await untilShown(api, await load.probe());
    }
    const { requests, last } = await load.end();
    await untilShown(api, last);
    await assertCountedOnce(installation, requests);
    const lines: string[] = [];
    assert.ok(await verify(installation, (line) => lines.push(line)), lines.join('\n'));
  } finally {
    await opened.closeAll();
  }
}

/** The process id of a part that runs, once it is another than before. */
export const untilRuns = (
  installation: Installation,
  name: ProcessName,
  before?: number,
): Promise<number> =>
  eventually(
    () => {
      const pid = installation.pidOf(name);
      return pid !== before && pid;
    },
    () => `${name} does not run`,
  );

/** Ends all processes. Without trust in what is tested: nothing may stay behind, whatever has failed. */
export async function endEverything(installation: Installation): Promise<void> {
  await installation.kill();
  const pids = processNames.flatMap((name) => installation.pidOf(name) ?? []);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  await eventually(
    () => !pids.some(isRunning),
    () => `still running: ${pids.filter(isRunning)}`,
  );
}

/** A way on which usage is sent. It rejects where there is no answer. */
type Way = (body: unknown) => Promise<Answer>;

const overHttp =
  (api: Caller): Way =>
  (body) =>
    api.call('POST', '/events/bulk', body);

const overNats =
  (connection: NatsConnection, issued: UsageCredentials): Way =>
  async (body) => {
    const answer = await sendUsage(connection, issued, body, { milliseconds: answerMilliseconds });
    const { status, position, body: answered } = answer;
    const headers = new Headers(position === undefined ? {} : { 'counterfoil-position': position });
    return { status, headers, body: answered, text: JSON.stringify(answered) };
  };

/** The time that an answer over NATS may take: nothing tells that a message was lost on its way. */
const answerMilliseconds = 5_000;

/**
 * Usage that is sent until it is told to end, each request until it is acknowledged. Clients take the ways in turn, and
 * what is sent again takes another one.
 */
function startUsage(ways: readonly Way[]) {
  let requests = 0;
  const acknowledged = ways.map(() => 0);
  let isEnding = false;
  let last = 0n;
  const send = async (request: number, way: number): Promise<bigint> => {
    const place = way % ways.length;
    const events = Array.from({ length: eventsOfRequest }, (_, number) => eventOf(request, number));
    const answer = await untilAccepted(
      () => (ways[place] as Way)({ events }),
      `request ${request}`,
    );
    const { accepted, repeated, conflicts } = answer.body;
    assert.is(accepted + repeated, eventsOfRequest);
    assert.equal(conflicts, []);
    acknowledged[place] = (acknowledged[place] ?? 0) + 1;
    // An answer that recorded nothing names no position.
    const position = BigInt(answer.headers.get('counterfoil-position') ?? 0);
    if (position > last) last = position;
    return position;
  };
  const sendNext = async (way: number): Promise<bigint> => {
    const request = requests;
    requests += 1;
    const position = await send(request, way);
    if (request % repeatedEvery === 0) await send(request, way + 1);
    return position;
  };
  const client = async (_: unknown, way: number): Promise<void> => {
    while (!isEnding) {
      await sendNext(way);
      await pause(restMilliseconds);
    }
  };
  const done = Promise.all(Array.from({ length: clients }, client));
  // A test that fails before it asks for the outcome must not end the process by it.
  done.catch(() => undefined);
  return {
    /** Resolves when more has been acknowledged on every way. */
    untilSent: async (): Promise<void> => {
      const before = [...acknowledged];
      await eventually(
        () => acknowledged.every((count, way) => count > (before[way] ?? 0) + clients),
        () => `no more was acknowledged on some way: ${before} and then ${acknowledged} requests`,
      );
    },
    /** Sends one request now; gives its position, or that of the last one when it was recorded before. */
    probe: async (): Promise<bigint> => {
      const position = await sendNext(0);
      return position > 0n ? position : last;
    },
    end: async () => {
      isEnding = true;
      await done;
      return { requests, last };
    },
  };
}

const eventOf = (request: number, number: number) => ({
  event_name: 'tokens',
  external_customer_id: `customer-${number % 5}`,
  event_id: `${request}-${number}`,
  timestamp: '2026-05-01T00:00:00.000Z',
  properties: { count: request + number },
});

/** The read side comes to a position, however long the processes take to be there again. */
export const untilShown = (api: Caller, position: bigint): Promise<unknown> =>
  eventually(
    async () => {
      const headers = { 'counterfoil-min-position': String(position) };
      const answer = await api
        .call('GET', '/events?page_size=1', undefined, headers)
        .catch(() => null);
      return answer?.status === 200;
    },
    () => `the tables of usage never came to ${position}`,
  );

/** Every acknowledged event is in the table that is counted, once, with what was sent; and nothing else is. */
async function assertCountedOnce(installation: Installation, requests: number): Promise<void> {
  const client = new Client({ connectionString: installation.databaseUrl });
  await client.connect();
  try {
    const { rows: fillings } = await client.query<{ schema: string }>(
      `select 'counterfoil_usage_v' || version || case generation when 0 then '' else '_g' || generation end
              as schema
         from counterfoil.filling where serving and name = 'usage'`,
    );
    const schema = fillings[0]?.schema;
    const { rows } = await client.query(
      `select count(*)::int as events, count(distinct event_id)::int as ids,
              sum((properties->>'count')::int)::text as sum,
              (select count(*)::int from ${schema}.conflict) as conflicts
         from ${schema}.event`,
    );
    const events = requests * eventsOfRequest;
    let sum = 0;
    for (let request = 0; request < requests; request += 1) {
      for (let number = 0; number < eventsOfRequest; number += 1) sum += request + number;
    }
    // A long load adds up to more than 32 bits.
    assert.equal(rows[0], { events, ids: events, sum: String(sum), conflicts: 0 });
  } finally {
    await client.end();
  }
}
