import { benchWebhooks, type WebhookBenchOptions, type WebhookFigures } from '../bench-webhooks.ts';
import type { Settings } from '../settings.ts';
import { withFreshInstallation } from './fresh-installation.ts';
import { measureRelayCatchUp, type RelayFigures } from './relay-catch-up.ts';

/** The figures as lines for people; times in milliseconds. */
export const webhookLines = ({ latency, drain, duplicates }: WebhookFigures): readonly string[] => [
  `from the event to its receipt: p50 ${latency.p50} ms, p95 ${latency.p95} ms, ` +
    `p99 ${latency.p99} ms, at most ${latency.maximum} ms (${latency.events} events)`,
  `one worker at a backlog: ${drain.deliveriesPerSecond} deliveries a second ` +
    `(${drain.deliveries} deliveries)`,
  `sent more than once: ${duplicates}`,
];

const relayLine = ({ messages, messagesPerSecond }: RelayFigures): string =>
  `an empty stream filled from the log: ${messagesPerSecond} messages a second (${messages} messages)`;

/**
 * `counterfoil bench webhooks`: measures the webhooks of a fresh installation in a temporary folder
 * and prints what its receivers saw, and how fast the stream that feeds them is filled. Throws `OperatorError` when a delivery is missing, out of order
 * or not genuine.
 */
export async function runWebhookBench(
  settings: Settings,
  options: Partial<WebhookBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  await withFreshInstallation(settings, async (demo, folder) => {
    webhookLines(await benchWebhooks(demo, options)).forEach(print);
    print(relayLine(await measureRelayCatchUp(demo, folder)));
  });
}
