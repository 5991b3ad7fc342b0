import { runProgram } from '@counterfoil/cli/program';
import { readSettings } from '@counterfoil/cli/settings';
import { Command } from 'commander';
import { bench } from './bench.ts';
import { benchCatalog, type CatalogBenchOptions } from './catalog.ts';
import { benchExports, type ExportBenchOptions } from './exports/bench.ts';
import { benchInvoices, type InvoiceBenchOptions } from './invoices/bench.ts';
import { benchLimits, type LimitBenchOptions } from './limits/bench.ts';
import {
  type BenchOptions,
  fullRun,
  names,
  shortRun,
  wholeNumber,
  wholeNumbers,
} from './options.ts';
import { benchQuestions, type QuestionBenchOptions } from './questions/bench.ts';
import { benchRollOver, type RollOverBenchOptions } from './roll-over/bench.ts';
import { scenarios } from './scenarios/index.ts';
import { benchUsage, type UsageBenchOptions } from './usage/bench.ts';
import { benchWebhooks, type WebhookBenchOptions } from './webhooks/bench.ts';

type Given = Partial<Omit<BenchOptions, 'scenarios' | 'profile'>> & {
  readonly scenario?: readonly string[];
  readonly full?: true;
  readonly profile?: string | true;
};

/** The folder for profiles where none is named. */
const profileFolder = 'profiles';

const described = ({ clients, seconds, wallets, kills, coldEntries }: BenchOptions): string =>
  `${clients.join(',')} clients, ${seconds} s each, ${wallets} wallets, ${kills} kills, ` +
  `a cold wallet of ${coldEntries} entries`;

const explanation = `
Starts an installation of its own in a temporary folder, measures it and removes it. The load comes from
a process of its own; answers are timed from the instant at which the request was to be sent. After each
scenario the log is compared with what clients were told: a difference ends the run with an error.

Without --full: ${described(shortRun)}.
With --full: ${described(fullRun)}.

Scenarios, in their order:
${scenarios.map(({ id, title }) => `  ${id.padEnd(9)} ${title}`).join('\n')}

See docs/operating/performance.md.`;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const program = new Command('bench')
  // Some options of a command have the name of one of the whole: what stands behind it is its own.
  .enablePositionalOptions()
  .description('measure a fresh installation on this machine, and check what it did')
  .option('--full', 'the whole measurement, which takes about half an hour')
  .option('--scenario <ids>', 'only these, such as S1,S3', names)
  .option('--clients <numbers>', 'clients at once; several with commas between', wholeNumbers)
  .option('--seconds <number>', 'measured seconds of each load', wholeNumber)
  .option(
    '--warm-up-seconds <number>',
    'load in front of them, in place of a fifth: each process compiles its code by itself',
    wholeNumber,
  )
  .option('--wallets <number>', 'wallets that requests are spread over', wholeNumber)
  .option(
    '--rate <number>',
    'open loop of so many requests a second in S1 to S6 and LAG',
    wholeNumber,
  )
  .option('--kills <number>', 'processes that S9 kills', wholeNumber)
  .option('--kill-every <seconds>', 'time from one kill of S9 to the next', wholeNumber)
  .option('--cold-entries <number>', 'entries of the wallet of S10', wholeNumber)
  .option('--seed <number>', 'the same seed sends the same requests', wholeNumber)
  .option(
    '--api-processes <number>',
    'processes of the api, at random under each request',
    wholeNumber,
  )
  .option(
    '--exact-counts',
    'wait until PostgreSQL has told its counts, which takes 22 s for each load',
  )
  .option('--json <file>', 'write the results there, with their histograms')
  .option('--profile [folder]', 'write a processor profile of each process and load there')
  .addHelpText('after', explanation)
  .action(({ full, scenario, profile, ...given }: Given) =>
    bench(
      readSettings(),
      {
        ...(full ? fullRun : shortRun),
        ...given,
        ...(scenario ? { scenarios: scenario } : {}),
        ...(profile ? { profile: profile === true ? profileFolder : profile } : {}),
      },
      print,
    ),
  );

program
  .command('webhooks')
  .description('measure the webhooks of a fresh installation, as their receiver sees them')
  .option('--per-second <number>', 'events a second of the steady part', wholeNumber)
  .option('--steady-seconds <number>', 'seconds of the steady part', wholeNumber)
  .option('--hanging <number>', 'endpoints beside it that never answer', wholeNumber)
  .option('--backlog-events <number>', 'events of the backlog', wholeNumber)
  .option('--backlog-endpoints <number>', 'endpoints that each get all of them', wholeNumber)
  .option('--catch-up-events <number>', 'further events to fill the stream from', wholeNumber)
  .action((given: Partial<WebhookBenchOptions>) => benchWebhooks(readSettings(), given, print));

program
  .command('catalog')
  .description('measure reads of a large catalogue, which takes about four minutes')
  .option('--plans <number>', 'plans of the catalogue', wholeNumber)
  .option('--prices-per-plan <number>', 'prices of each plan, up to 100', wholeNumber)
  .option('--per-second <number>', 'reads of one plan a second', wholeNumber)
  .option('--read-seconds <number>', 'seconds of them', wholeNumber)
  .option('--pages-per-depth <number>', 'pages that are read at each depth', wholeNumber)
  .action((given: Partial<CatalogBenchOptions>) => benchCatalog(readSettings(), given, print));

program
  .command('limits')
  .description('measure entitlement checks, and recording within a hard limit until it is reached')
  .option('--per-second <number>', 'requests a second', wholeNumber)
  .option('--seconds <number>', 'measured seconds of each of the two loads', wholeNumber)
  .option('--profile <folder>', 'write processor profiles there')
  .action((given: Partial<LimitBenchOptions>) => benchLimits(readSettings(), given, print));

program
  .command('roll-over')
  .description('measure subscriptions whose periods end at one instant of a test clock')
  .option('--subscriptions <number>', 'subscriptions', wholeNumber)
  .option('--profile <folder>', 'write processor profiles there')
  .action((given: Partial<RollOverBenchOptions>) => benchRollOver(readSettings(), given, print));

program
  .command('invoices')
  .description(
    'measure invoices of subscriptions with usage and credits whose periods end at one instant',
  )
  .option('--subscriptions <number>', 'subscriptions, each with a wallet of its own', wholeNumber)
  .option('--wide <number>', 'subscriptions with a hundred lines beside them', wholeNumber)
  .option('--per-second <number>', 'reads and previews a second', wholeNumber)
  .option('--seconds <number>', 'measured seconds of each of these two loads', wholeNumber)
  .option('--profile <folder>', 'write processor profiles there')
  .action((given: Partial<InvoiceBenchOptions>) => benchInvoices(readSettings(), given, print));

program
  .command('usage')
  .description('measure the recording of usage: bulks of 1,000 events, then single events')
  .option('--seconds <number>', 'measured seconds of each of the two loads', wholeNumber)
  .option('--clients <number>', 'clients that send bulks', wholeNumber)
  .option('--single-clients <number>', 'clients that send single events', wholeNumber)
  .option('--no-meters', 'record events that nothing sums up')
  .option('--profile <folder>', 'write processor profiles there')
  .action((given: Partial<UsageBenchOptions>) => benchUsage(readSettings(), given, print));

program
  .command('exports')
  .description('measure an export of usage as gzipped CSV, and the memory of the exporter')
  .option('--events <number>', 'usage events', wholeNumber)
  .option('--customers <number>', 'customers whose they are', wholeNumber)
  .action((given: Partial<ExportBenchOptions>) => benchExports(readSettings(), given, print));

program
  .command('questions')
  .description(
    'measure questions about stored usage: a month of one customer, by a property, and usage so far',
  )
  .option('--events <number>', 'events stored, a tenth of them of one customer', wholeNumber)
  .option('--customers <number>', 'customers', wholeNumber)
  .option('--clients <number>', 'clients that ask for a month', wholeNumber)
  .option('--per-second <number>', 'questions a second about usage so far', wholeNumber)
  .option('--beside <number>', 'events a second that are recorded meanwhile', wholeNumber)
  .option('--seconds <number>', 'measured seconds of each load', wholeNumber)
  .action((given: Partial<QuestionBenchOptions>) => benchQuestions(readSettings(), given, print));

await runProgram(program);
