import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { verify } from '@counterfoil/cli/verify';
import { freePort, isRunning } from '@counterfoil/local';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, caller } from '../caller.ts';
import { eventually } from '../eventually.ts';
import { type Delivery, type Sink, startSink } from '../sink.ts';
import {
  type Installation,
  type ProcessName,
  processNames,
  startInstallation,
} from './installation.ts';
import { startLoad } from './load.ts';
import { type Acknowledged, insist } from './movements.ts';
import { openings } from './openings.ts';
import { assertNothingIsLost } from './truth.ts';

const test = suite('kill -9 of each process and of all at once');

const walletCount = 4;
const movementsPerKill = 80;

/** Settings by which deliveries that a killed worker had in hand are sent again soon. */
const settings = {
  LOG_LEVEL: 'error',
  WEBHOOK_LEASE_MS: '2000',
  WEBHOOK_RETRY_LADDER_MS: Array(50).fill(200).join(','),
};

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-crash-'));
let port: number;
let installation: Installation;
let api: Caller;
let sink: Sink;
let walletIds: readonly string[];
const acknowledged: Acknowledged[] = [];
let probes = 0;
const arrived = new Set<string>();
const opened = openings();

test.before(async () => {
  opened.add(folder, async (path) => rmSync(path, { recursive: true, force: true }));
  const receive = ({ body }: Delivery): number => {
    arrived.add(JSON.parse(body).transaction?.id);
    return 200;
  };
  sink = opened.add(await startSink(receive), (one) => one.close());
  port = await freePort();
  installation = await startInstallation({ folder, port, settings });
  opened.add(null, endEverything);
  api = caller(installation.baseUrl, installation.apiKey);
  await api.ok('POST', '/webhooks/endpoints', { url: sink.url });
  walletIds = await Promise.all(Array.from({ length: walletCount }, openWallet));
});
test.after(opened.closeAll);

async function openWallet(_: unknown, index: number): Promise<string> {
  const name = `crash-${index}`;
  const customer = await api.ok('POST', '/customers', { external_id: name, name });
  const body = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '1000000' };
  return (await api.ok('POST', '/wallets', body)).id;
}

async function untilNoneRuns(pids: readonly number[]): Promise<void> {
  await eventually(
    () => !pids.some(isRunning),
    () => `still running: ${pids.filter(isRunning)}`,
  );
}

/** Without trust in what is tested: nothing may stay behind, whatever has failed. */
async function endEverything(): Promise<void> {
  await installation.kill();
  const pids = processNames.flatMap((name) => installation.pidOf(name) ?? []);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
  await untilNoneRuns(pids);
}

/** Waits until a process runs, another one than before if there was one, and gives its pid. */
const untilRuns = (name: ProcessName, before?: number): Promise<number> =>
  eventually(
    () => {
      const pid = installation.pidOf(name);
      return pid !== before && pid;
    },
    () => `${name} does not run`,
  );

/** A write that begins now goes all the way: to the read model, to NATS and to the receiver. */
async function assertAllFlows(): Promise<void> {
  const walletId = walletIds[0] ?? '';
  probes += 1;
  const key = `probe-${probes}`;
  const probe = await insist(api, { walletId, kind: 'debit', credits: '3', key });
  acknowledged.push(probe);
  const headers = { 'counterfoil-min-position': String(probe.position) };
  await eventually(
    async () => {
      const answer = await api.call('GET', `/wallets/${walletId}`, undefined, headers);
      return answer.status === 200;
    },
    () => `no read model at position ${probe.position}`,
  );
  await eventually(
    () => arrived.has(probe.entry.id),
    () => `no webhook for ${probe.entry.id}`,
  );
}

/** Kills in the middle of a load, sees to a new start, and waits for the load's last answer. */
async function killUnderLoad(
  name: string,
  pids: readonly number[],
  restart: () => Promise<unknown>,
): Promise<void> {
  const load = startLoad({
    caller: api,
    name,
    walletIds,
    clientsPerWallet: 2,
    movements: movementsPerKill,
  });
  await load.half;
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await restart();
  await assertAllFlows();
  acknowledged.push(...(await load.done));
}

for (const name of processNames) {
  test(`everything flows again after kill -9 of ${name}`, async () => {
    const pid = await untilRuns(name);
    await killUnderLoad(name.replaceAll(' ', '-'), [pid], () => untilRuns(name, pid));
  });
}

test('everything flows again after kill -9 of all processes at once and a new start', async () => {
  const children = await Promise.all(processNames.map((name) => untilRuns(name)));
  const pids = [installation.pid, ...children];
  await killUnderLoad('all', pids, async () => {
    await untilNoneRuns(pids);
    installation = await startInstallation({ folder, port, settings });
  });
});

/** Longer than any time that the api gives a request to arrive in pieces. */
const standstillMilliseconds = 11_000;

/** A connection that has sent a part of a request; `finish` sends the rest and gives all that was answered. */
function openRequest(request: string, sent: number) {
  const { hostname, port: apiPort } = new URL(installation.baseUrl);
  const socket = connect(Number(apiPort), hostname);
  socket.write(request.slice(0, sent));
  const answer = text(socket);
  return {
    finish: (): Promise<string> => {
      socket.write(request.slice(sent));
      return answer;
    },
  };
}

function creationOf(name: string): string {
  const body = JSON.stringify({ external_id: name, name });
  const head = [
    'POST /v1/customers HTTP/1.1',
    'Host: localhost',
    'Connection: close',
    `x-api-key: ${installation.apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

test('requests whose bytes waited while the api stood still get their answers', async () => {
  const pid = await untilRuns('api');
  const requests = Array.from({ length: 16 }, (_, index) => creationOf(`standstill-${index}`));
  // Some have sent nothing before, some a part of the head, some all but the end of the body.
  const places = [0, 20, -5] as const;
  const opening = requests.map((request, index) => {
    const place = places[index % places.length] ?? 0;
    return openRequest(request, place < 0 ? request.length + place : place);
  });
  const silent = openRequest('', 0);
  // Its answer says that what was sent before it has arrived.
  await api.call('GET', '/users/me');
  process.kill(pid, 'SIGSTOP');
  const answers = Promise.all(opening.map(({ finish }) => finish()));
  await pause(standstillMilliseconds);
  process.kill(pid, 'SIGCONT');
  const statuses = (await answers).map((answer) => answer.slice(0, 'HTTP/1.1 201'.length));
  assert.equal([...new Set(statuses)], ['HTTP/1.1 201']);
  assert.is(await silent.finish(), '', 'a silent connection is closed without a word');
});

test('what was acknowledged is there once, published once and delivered, and all verifies', async () => {
  const { natsUrl } = installation;
  await assertNothingIsLost({ caller: api, natsUrl, sink, walletIds, acknowledged });
  const lines: string[] = [];
  const isClean = await verify(installation, (line) => lines.push(line));
  assert.ok(isClean, lines.join('\n'));
});

test('when the supervisor alone is killed, no process outlives it', async () => {
  const children = await Promise.all(processNames.map((name) => untilRuns(name)));
  await installation.kill();
  await untilNoneRuns(children);
});

test.run();
