import { cpus, loadavg } from 'node:os';
import {
  benchCatalog,
  type CatalogBenchOptions,
  type CatalogFigures,
  type Times,
} from '../bench-catalog.ts';
import type { Settings } from '../settings.ts';
import { withFreshInstallation } from './fresh-installation.ts';
import { shown } from './report.ts';

const described = ({ p50, p99, maximum, requests }: Times): string =>
  `p50 / p99 / max ${[p50, p99, maximum].map(shown).join(' / ')} ms (${requests} requests)`;

const grouped = (count: number): string => count.toLocaleString('en-US');

/** The figures as lines for people; times in milliseconds. */
export function catalogLines(figures: CatalogFigures): readonly string[] {
  const { plans, prices, fillSeconds, vacuumSeconds, plan, pages } = figures;
  return [
    `${grouped(plans)} plans with ${grouped(prices)} prices created in ${fillSeconds} s`,
    vacuumSeconds === null
      ? 'PostgreSQL did not vacuum them in good time: totals and far pages are slower than they will be'
      : `vacuumed by PostgreSQL ${vacuumSeconds} s after they were read once`,
    `GET /plans/{id}: ${described(plan)}`,
    ...pages.map(
      ({ path, offset, times }) =>
        `POST ${path} from offset ${grouped(offset)}: ${described(times)}`,
    ),
    `verdict: right; each of ${grouped(plans)} plans and ${grouped(prices)} prices found once and in ` +
      'order, plans with the prices that they were given, pages and totals exact',
  ];
}

const condition = (): string =>
  `${cpus().length} processors, ${cpus()[0]?.model ?? 'unknown'}; node ${process.version}; ` +
  `load ${shown(loadavg()[0] ?? 0)}`;

/**
 * `counterfoil bench catalog`: measures reads of a large catalogue in a fresh installation and prints what
 * clients saw. Throws `OperatorError` when an answer is not what was created.
 */
export async function runCatalogBench(
  settings: Settings,
  options: Partial<CatalogBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  await withFreshInstallation(settings, async (demo) => {
    print(`before: ${condition()}`);
    const lines = catalogLines(await benchCatalog(demo, options));
    print(`after: ${condition()}`);
    lines.forEach(print);
  });
}
