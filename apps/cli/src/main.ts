import type { EnvironmentId, WalletId } from '@counterfoil/kernel';
import { Command } from 'commander';
import { addGroups } from './groups.ts';
import { runProgram } from './program.ts';
import { environmentOf, OperatorError, readSettings, secretKeyOf, serverUrls } from './settings.ts';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const program = new Command('counterfoil').description(
  'Event-sourced billing, entitlement and wallet service',
);

program
  .command('up')
  .description('start everything that is not configured, and a demo tenant')
  .action(async () => (await import('./up/command.ts')).up(readSettings()));

program
  .command('status')
  .description(
    'show whether the api is ready, what fails, and which of its processes know one another',
  )
  .argument(
    '[addresses...]',
    'of processes of the api; by default the one that `counterfoil up` runs',
  )
  .action(async (addresses: string[]) => {
    const { showStatus } = await import('./status.ts');
    const isReady = await showStatus(readSettings(), addresses, print);
    if (!isReady) process.exitCode = 1;
  });

program
  .command('verify')
  .description('check every hash chain and derive every row of the read models again from the log')
  .option('--invoices', 'compute every final invoice again from the log instead', false)
  .action(async ({ invoices }: { readonly invoices: boolean }) => {
    const urls = serverUrls(readSettings());
    const isClean = invoices
      ? await (await import('./verify-invoices.ts')).verifyInvoices(urls, print)
      : await (await import('./verify.ts')).verify(urls, print);
    if (!isClean) process.exitCode = 1;
  });

interface ExportChoice {
  readonly wallet: WalletId;
  readonly environment?: EnvironmentId;
  readonly proofs: boolean;
  readonly since?: string;
}

program
  .command('checkpoint')
  .description('sign what is new in the wallets of every environment')
  .action(async () => {
    const settings = readSettings();
    const { eventStoreUrl } = serverUrls(settings);
    const { takeCheckpoints } = await import('./checkpoint.ts');
    await takeCheckpoints(eventStoreUrl, secretKeyOf(settings), print, settings.CLOCK_SKEW_SECONDS);
  });

program
  .command('export')
  .description("write a wallet's ledger to standard output, as verify-ledger reads it")
  .requiredOption('--wallet <id>')
  .option('--environment <id>', 'by default the one of the demo tenant')
  .option('--proofs', 'prove that the last signed checkpoint includes it', false)
  .option('--since <id>', 'prove too that this earlier checkpoint still holds')
  .action(async (choice: ExportChoice) => {
    const settings = readSettings();
    const { exportLedger } = await import('./export.ts');
    await exportLedger(serverUrls(settings).eventStoreUrl, process.stdout, {
      walletId: choice.wallet,
      environmentId: choice.environment ?? environmentOf(settings),
      withProofs: choice.proofs || choice.since !== undefined,
      since: choice.since,
    });
  });

program
  .command('verify-ledger')
  .description('check an exported ledger by itself: no server, no network')
  .argument('<file>')
  .option('--key <file>', 'public key, to check that a signed checkpoint includes it')
  .option('--checkpoint <file>', 'an earlier checkpoint that must still hold')
  .action(async () => {
    const { main } = await import('./verify-ledger/verify-ledger.ts');
    await main(process.argv.slice(3));
  });

program
  .command('rebuild')
  .description('fill read models again from the log, while everything keeps running')
  .argument('[tables...]', 'only these read tables')
  .option('--discard', 'throw all away first, also when they come from another log', false)
  .action(async (tables: string[], { discard: isDiscarded }: { discard: boolean }) => {
    const { discard, rebuild } = await import('./verify.ts');
    if (isDiscarded) await discard(serverUrls(readSettings()));
    else await rebuild(serverUrls(readSettings()), tables);
    print(isDiscarded ? 'Discarded. The next projector fills them again.' : 'Rebuilt.');
  });

program
  .command('docs')
  .description('write the reference that is generated from the code; needs no servers')
  .option('--folder <path>', 'where to write it; by default docs/reference')
  .action(async ({ folder }: { readonly folder?: string }) => {
    const { referenceFolder, writeReference } = await import('./docs.ts');
    for (const path of writeReference(folder ?? referenceFolder)) print(path);
  });

const events = program.command('events').description('look at the log');
events
  .command('tail')
  .description('print events as lines of JSON')
  .option('--after <position>', 'start after this position of the log')
  .option('--once', 'end with the log instead of waiting for more', false)
  .action(async ({ after, once }: { after?: string; once: boolean }) => {
    if (after !== undefined && !/^\d{1,19}$/.test(after)) {
      throw new OperatorError('--after must be a position of the log, such as 4711.');
    }
    const abort = new AbortController();
    process.once('SIGINT', () => abort.abort());
    process.once('SIGTERM', () => abort.abort());
    const start = after === undefined ? null : BigInt(after);
    const options = { after: start, isOnce: once, signal: abort.signal };
    const { tailEvents } = await import('./events.ts');
    await tailEvents(serverUrls(readSettings()), options, print);
  });

program
  .command('event-gateway')
  .description('print the configuration of a nats-server that downstream systems connect to')
  .requiredOption('--leaf <url>', 'where the broker listens for leaf nodes: nats-leaf://host:7422')
  .requiredOption('--accounts <folder>', 'where that server keeps its accounts')
  .option('--listen <address>', 'where it is to listen', '0.0.0.0:4222')
  .action(async ({ leaf, accounts, listen }: Record<'leaf' | 'accounts' | 'listen', string>) => {
    const { gatewayConfiguration, gatewayKeys } = await import('@counterfoil/engine');
    const { secretsFrom } = await import('@counterfoil/modules');
    const keys = gatewayKeys(secretsFrom(secretKeyOf(readSettings())).gatewaySeed);
    print(gatewayConfiguration(keys, { listen, directory: accounts, leafUrl: leaf }));
  });

await addGroups(program, print, process.argv[2] ?? '');
await runProgram(program);
