import { setTimeout as pause } from 'node:timers/promises';
import { type Demo, OperatorError, type Settings } from '@counterfoil/cli/settings';
import { api, inParallel } from './api.ts';
import { machine } from './conditions.ts';
import { withFreshInstallation } from './installation.ts';
import { shown } from './report.ts';
import { type Times, timesOf } from './times.ts';
import { untilVacuumed } from './vacuumed.ts';

/** The size of the catalogue and the way it is read. */
export interface CatalogBenchOptions {
  readonly plans: number;
  readonly pricesPerPlan: number;
  /** Reads of one plan per second, and the seconds that they last. */
  readonly perSecond: number;
  readonly readSeconds: number;
  /** Pages that are read at each depth. */
  readonly pagesPerDepth: number;
}

const defaults: CatalogBenchOptions = {
  plans: 10_000,
  pricesPerPlan: 10,
  perSecond: 50,
  readSeconds: 20,
  pagesPerDepth: 20,
};

interface PageTimes {
  readonly path: string;
  readonly offset: number;
  readonly times: Times;
}

interface CatalogFigures {
  readonly plans: number;
  readonly prices: number;
  readonly fillSeconds: number;
  /** Seconds until PostgreSQL had vacuumed the prices; null when it had not in time. */
  readonly vacuumSeconds: number | null;
  /** `GET /plans/{id}` with its prices, each from when it was due to its answer. */
  readonly plan: Times;
  /** `POST /plans/search` and `POST /prices/search`, by the depth of the page in the list. */
  readonly pages: readonly PageTimes[];
}

const clients = 16;
const pageSize = 50;
const largestPage = 1_000;
const depths = [0, 0.25, 0.5, 0.75, 1] as const;

/** The created records: the ids of the prices of each plan, from the answers. */
type Made = ReadonlyMap<string, readonly string[]>;

/**
 * `bench catalog`: measures reads of a large catalogue in a fresh installation and prints what clients saw.
 *
 * @throws {OperatorError} when an answer is wrong: a plan with other prices than it was given, a page
 *   with rows of another page or in another order, a wrong total, a record that no page shows
 */
export async function benchCatalog(
  settings: Settings,
  given: Partial<CatalogBenchOptions>,
  print: (line: string) => void,
): Promise<void> {
  await withFreshInstallation(settings, async (demo) => {
    print(`before: ${machine()}`);
    const lines = linesOf(await measureCatalog(demo, { ...defaults, ...given }));
    print(`after: ${machine()}`);
    lines.forEach(print);
  });
}

/** Fills a running installation with plans and prices, reads all of them once, and measures reads. */
async function measureCatalog(demo: Demo, options: CatalogBenchOptions): Promise<CatalogFigures> {
  const startedAt = performance.now();
  const made = await fill(demo, options);
  const fillSeconds = Math.round((performance.now() - startedAt) / 1_000);
  const prices = [...made.values()].flat();
  const totals = {
    plans: await readAll(demo, '/plans/search', [...made.keys()]),
    prices: await readAll(demo, '/prices/search', prices),
  };
  const vacuumSeconds = await untilVacuumed(demo.database_url, 'prices');
  const plan = await measurePlans(demo, made, options);
  const pages = [
    ...(await measurePages(demo, '/plans/search', totals.plans, options)),
    ...(await measurePages(demo, '/prices/search', totals.prices, options)),
  ];
  const sizes = { plans: made.size, prices: prices.length };
  return { ...sizes, fillSeconds, vacuumSeconds, plan, pages };
}

async function fill(demo: Demo, { plans, pricesPerPlan }: CatalogBenchOptions): Promise<Made> {
  const made = new Map<string, readonly string[]>();
  await inParallel(clients, plans, async (index) => {
    const { id } = await api<Row>(demo, 'POST', '/plans', { name: `Plan ${index + 1}` });
    const items = Array.from({ length: pricesPerPlan }, (_, place) => ({
      entity_type: 'PLAN',
      entity_id: id,
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      currency: 'usd',
      amount: String(place + 1),
    }));
    const prices = await api<Rows>(demo, 'POST', '/prices/bulk', { items });
    made.set(id, idsOf(prices.items));
  });
  return made;
}

/** Reads a whole list page by page, which must show every created record once. Returns its length. */
async function readAll(demo: Demo, path: string, created: readonly string[]): Promise<number> {
  const total = await untilShown(demo, path, created.length);
  const seen = new Set<string>();
  let last: Row | undefined;
  for (let offset = 0; offset < total; offset += largestPage) {
    const page = await api<Page>(demo, 'POST', path, { limit: largestPage, offset });
    for (const row of page.items) {
      if (last && !isBefore(last, row)) throw new OperatorError(`${path}: ${row.id} is misplaced.`);
      last = row;
      seen.add(row.id);
    }
  }
  if (seen.size !== total) throw new OperatorError(`${path} shows ${seen.size} of ${total} rows.`);
  const missing = created.find((id) => !seen.has(id));
  if (missing !== undefined) throw new OperatorError(`${path} does not show ${missing}.`);
  return total;
}

/** Newest first; the id decides between equals. */
const isBefore = (left: Row, right: Row): boolean =>
  left.created_at > right.created_at ||
  (left.created_at === right.created_at && left.id > right.id);

/** Reads of plans at random, each at its time, whether or not those before are answered. */
async function measurePlans(
  demo: Demo,
  made: Made,
  { perSecond, readSeconds }: CatalogBenchOptions,
): Promise<Times> {
  const plans = [...made];
  const startedAt = performance.now();
  const reads = Array.from({ length: perSecond * readSeconds }, async (_, index) => {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    const [id, prices] = plans[Math.floor(Math.random() * plans.length)] ?? ['', []];
    const plan = await api<{ readonly prices: readonly Row[] }>(demo, 'GET', `/plans/${id}`);
    const taken = performance.now() - dueAt;
    if (idsOf(plan.prices).sort().join() !== prices.toSorted().join()) {
      throw new OperatorError(`${id} was shown with other prices than it was given.`);
    }
    return taken;
  });
  return timesOf(await Promise.all(reads));
}

/** Pages one after the other, from some depths of the list on; none may repeat a row of another. */
async function measurePages(
  demo: Demo,
  path: string,
  total: number,
  { pagesPerDepth }: CatalogBenchOptions,
): Promise<readonly PageTimes[]> {
  const pages: PageTimes[] = [];
  for (const depth of depths) {
    const start = Math.max(0, Math.floor(depth * (total - pagesPerDepth * pageSize)));
    const seen = new Set<string>();
    const taken: number[] = [];
    for (let index = 0; index < pagesPerDepth; index += 1) {
      const offset = start + index * pageSize;
      const sentAt = performance.now();
      const page = await api<Page>(demo, 'POST', path, { limit: pageSize, offset });
      taken.push(performance.now() - sentAt);
      for (const { id } of page.items) seen.add(id);
      const wanted = Math.min((index + 1) * pageSize, total - start);
      if (seen.size !== wanted || page.pagination.total !== total) {
        throw new OperatorError(`${path} at ${offset}: ${seen.size} rows instead of ${wanted}.`);
      }
    }
    pages.push({ path, offset: start, times: timesOf(taken) });
  }
  return pages;
}

const shownMilliseconds = 120_000;

/** Waits until the read model shows at least this many rows; returns their number. */
async function untilShown(demo: Demo, path: string, least: number): Promise<number> {
  const deadline = Date.now() + shownMilliseconds;
  for (;;) {
    const { pagination } = await api<Page>(demo, 'POST', path, { limit: 1 });
    if (pagination.total >= least) return pagination.total;
    if (Date.now() > deadline) throw new OperatorError(`${path} never showed ${least} rows.`);
    await pause(100);
  }
}

interface Row {
  readonly id: string;
  readonly created_at: string;
}

interface Rows {
  readonly items: readonly Row[];
}

interface Page extends Rows {
  readonly pagination: { readonly total: number };
}

const idsOf = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);

const described = ({ p50, p99, maximum, count }: Times): string =>
  `p50 / p99 / max ${[p50, p99, maximum].map(shown).join(' / ')} ms (${count} requests)`;

const grouped = (count: number): string => count.toLocaleString('en-US');

/** The figures as lines for people. */
function linesOf(figures: CatalogFigures): readonly string[] {
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
