import type { Command } from 'commander';
import { OperatorError } from '../settings.ts';
import { type ListenOptions, listenForWebhooks } from './listen.ts';

const numberUpTo =
  (maximum: number) =>
  (text: string): number => {
    const number = /^\d{1,5}$/.test(text) ? Number(text) : maximum + 1;
    if (number > maximum) throw new OperatorError(`${text} is no number from 0 to ${maximum}.`);
    return number;
  };

type Given = Omit<ListenOptions, 'keys'> & { readonly key: readonly string[] };

/** Adds `webhooks listen` to the program. */
export function addWebhooksCommand(program: Command, print: (line: string) => void): void {
  program
    .command('webhooks')
    .description('receive webhooks')
    .command('listen')
    .description('print what arrives, and whether it is genuine, as lines of JSON')
    .option('--port <number>', 'where to listen; 0 takes a free one', numberUpTo(65_535), 9_000)
    .option('--host <address>', 'where to listen', '127.0.0.1')
    .option('--key <key...>', 'secrets (whsec_…) or public keys (whpk_…) to verify with', [])
    .option('--status <number>', 'what to answer genuine webhooks', numberUpTo(599), 204)
    .action(async ({ key: keys, ...options }: Given) => {
      const { port } = await listenForWebhooks({ ...options, keys }, print);
      process.stderr.write(`Listening on http://${options.host}:${port}\n`);
    });
}
