import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Demo, OperatorError, type ServerUrls, type Settings } from '../settings.ts';
import { startInstallation } from '../up/up.ts';
import { rebuild, verify } from '../verify.ts';
import { api, makeWallet } from './api.ts';
import { closedLoop, type LoadResult } from './load.ts';
import { perThousand, processorTime } from './processor-time.ts';

export interface BenchOptions {
  readonly clients: number;
  readonly seconds: number;
  readonly wallets: number;
}

type Print = (line: string) => void;

const credits = '1000000000';
const walletsAtOnce = 64;

/**
 * `counterfoil bench`: measures a fresh installation, everything durable and on this machine, and
 * checks afterwards that what was acknowledged is what happened. Throws when it is not.
 */
export async function bench(
  settings: Settings,
  options: BenchOptions,
  print: Print,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-'));
  process.env.RATE_LIMIT_PER_SECOND ??= '1000000';
  process.env.LOG_LEVEL ??= 'warn';
  const fresh = { COUNTERFOIL_DATA: folder, PORT: 0, HOST: settings.HOST };
  const installation = await startInstallation(fresh);
  try {
    const { demo } = installation;
    print(`${cpus().length} processors, ${cpus()[0]?.model}; node ${process.version}`);
    const measured = measure(folder, demo, options, print);
    await hotWallet(demo, measured);
    await manyWallets(demo, options, measured);
    await catchUp(demo, print);
  } finally {
    await installation.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const describe = (name: string, result: LoadResult): string =>
  `${name}: ${Math.round(result.perSecond)} debits/s, p50 ${result.p50.toFixed(1)} ms, ` +
  `p99 ${result.p99.toFixed(1)} ms, max ${result.maximum.toFixed(0)} ms, ` +
  `${result.requests} requests in ${result.seconds.toFixed(1)} s, ` +
  `answers ${JSON.stringify(result.statuses)}`;

/** Runs one load, prints what came of it and gives the number of successes. */
type Measured = (
  name: string,
  request: Parameters<typeof closedLoop>[0]['request'],
) => Promise<number>;

const measure =
  (folder: string, demo: Demo, { clients, seconds }: BenchOptions, print: Print): Measured =>
  async (name, request) => {
    const before = processorTime(folder);
    const load = { baseUrl: demo.base_url, apiKey: demo.api_key, clients, seconds, request };
    const result = await closedLoop(load);
    const spent = perThousand(before, processorTime(folder), result.requests);
    print(describe(`${name}, ${clients} clients`, result));
    print(`  processor time in ms per 1,000 debits: ${spent}`);
    return result.statuses[200] ?? 0;
  };

async function hotWallet(demo: Demo, measured: Measured): Promise<void> {
  const wallet = await makeWallet(demo, 'hot', credits);
  const path = `/wallets/${wallet}/debit`;
  const done = await measured('one wallet', () => ({ path, body: { credits: '1' } }));
  await assertDebited(demo, [wallet], done);
}

async function manyWallets(demo: Demo, options: BenchOptions, measured: Measured): Promise<void> {
  const wallets: string[] = [];
  while (wallets.length < options.wallets) {
    const count = Math.min(walletsAtOnce, options.wallets - wallets.length);
    const names = Array.from({ length: count }, (_, index) => `many-${wallets.length + index}`);
    wallets.push(...(await Promise.all(names.map((name) => makeWallet(demo, name, credits)))));
  }
  const done = await measured(`${wallets.length} wallets`, (n) => ({
    path: `/wallets/${wallets[n % wallets.length]}/debit`,
    body: { credits: '1' },
  }));
  await assertDebited(demo, wallets, done);
}

interface WalletPage {
  readonly items: readonly { readonly id: string; readonly credit_balance: string }[];
}

/** What was acknowledged must be what the wallets lost, no more and no less. */
async function assertDebited(demo: Demo, ids: readonly string[], debits: number): Promise<void> {
  let lost = 0n;
  for (let start = 0; start < ids.length; start += 1_000) {
    const page = await api<WalletPage>(demo, 'POST', '/wallets/search', {
      wallet_ids: ids.slice(start, start + 1_000),
      limit: 1_000,
    });
    for (const wallet of page.items) lost += BigInt(credits) - BigInt(wallet.credit_balance);
  }
  if (lost !== BigInt(debits)) {
    throw new OperatorError(`${debits} debits were acknowledged, the wallets lost ${lost} credits`);
  }
}

async function catchUp(demo: Demo, print: Print): Promise<void> {
  const urls: ServerUrls = {
    eventStoreUrl: demo.eventstore_url,
    databaseUrl: demo.database_url,
    natsUrl: demo.nats_url,
  };
  const lines: string[] = [];
  const verifyStart = performance.now();
  const isClean = await verify(urls, (line) => lines.push(line));
  const verifySeconds = (performance.now() - verifyStart) / 1_000;
  if (!isClean) throw new OperatorError(`verify found differences:\n${lines.join('\n')}`);
  const events = Number(/(\d+) events/.exec(lines.join('\n'))?.[1]);
  print(`verify: ${events} events in ${verifySeconds.toFixed(1)} s, chains and read models; clean`);
  const rebuildStart = performance.now();
  await rebuild(urls, []);
  const rebuildSeconds = (performance.now() - rebuildStart) / 1_000;
  print(
    `projector catch-up: ${Math.round(events / rebuildSeconds)} events/s ` +
      `(all read tables from the start of the log in ${rebuildSeconds.toFixed(1)} s)`,
  );
}
