import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@counterfoil/local';
import { benchWebhooks, type WebhookBenchOptions, type WebhookFigures } from '../bench-webhooks.ts';
import type { Settings } from '../settings.ts';
import { startInstallation } from '../up/up.ts';

/** The figures as lines for people; times in milliseconds. */
export const webhookLines = ({ latency, drain, duplicates }: WebhookFigures): readonly string[] => [
  `from the event to its receipt: p50 ${latency.p50} ms, p95 ${latency.p95} ms, ` +
    `p99 ${latency.p99} ms, at most ${latency.maximum} ms (${latency.events} events)`,
  `one worker at a backlog: ${drain.deliveriesPerSecond} deliveries a second ` +
    `(${drain.deliveries} deliveries)`,
  `sent more than once: ${duplicates}`,
];

/**
 * `counterfoil bench webhooks`: measures the webhooks of a fresh installation in a temporary folder
 * and prints what its receivers saw. Throws `OperatorError` when a delivery is missing, out of order
 * or not genuine.
 */
export async function runWebhookBench(
  settings: Settings,
  options: Partial<WebhookBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-bench-'));
  // A bench would otherwise measure the limit, and the writing of lines that nobody reads.
  process.env.RATE_LIMIT_PER_SECOND ??= '1000000';
  process.env.LOG_LEVEL ??= 'warn';
  const fresh = { COUNTERFOIL_DATA: folder, PORT: await freePort(), HOST: settings.HOST };
  const installation = await startInstallation(fresh);
  const end = async (): Promise<void> => {
    await installation.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupt = (): void => void end().finally(() => process.exit(1));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    webhookLines(await benchWebhooks(installation.demo, options)).forEach(print);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    await end();
  }
}
