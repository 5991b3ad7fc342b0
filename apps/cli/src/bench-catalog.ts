import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { untilVacuumed } from './bench/vacuumed.ts';
import { type Demo, OperatorError } from './settings.ts';

/** How large the catalogue is and how it is read. The defaults are what the design promises figures for. */
export interface CatalogBenchOptions {
  readonly plans: number;
  readonly pricesPerPlan: number;
  /** Reads of one plan per second, and for how many seconds. */
  readonly perSecond: number;
  readonly readSeconds: number;
  /** Pages that are read at each depth. */
  readonly pagesPerDepth: number;
}

export const catalogBenchDefaults: CatalogBenchOptions = {
  plans: 10_000,
  pricesPerPlan: 10,
  perSecond: 50,
  readSeconds: 20,
  pagesPerDepth: 20,
};

/** Milliseconds from when a request was due to its answer. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly maximum: number;
  readonly requests: number;
}

export interface PageTimes {
  readonly path: string;
  readonly offset: number;
  readonly times: Times;
}

export interface CatalogFigures {
  readonly plans: number;
  readonly prices: number;
  readonly fillSeconds: number;
  /** Until PostgreSQL had vacuumed the prices, in seconds; null when it had not in good time. */
  readonly vacuumSeconds: number | null;
  /** `GET /plans/{id}` with its prices. */
  readonly plan: Times;
  /** `POST /plans/search` and `POST /prices/search`, by how far into the list the page is. */
  readonly pages: readonly PageTimes[];
}

const clients = 16;
const pageSize = 50;
const largestPage = 1_000;
const depths = [0, 0.25, 0.5, 0.75, 1] as const;

/** What was created: the ids of the prices of each plan, as the answers said. */
type Made = ReadonlyMap<string, readonly string[]>;

/**
 * Fills a running installation with plans and prices, reads all of them once, and measures reads. Throws
 * an `OperatorError` when an answer is wrong: a plan with other prices than it was given, a page with
 * rows of another page or in another order, a wrong total, a record that no page shows.
 */
export async function benchCatalog(
  demo: Demo,
  given: Partial<CatalogBenchOptions> = {},
): Promise<CatalogFigures> {
  const options = { ...catalogBenchDefaults, ...given };
  const api = createApi(demo);
  try {
    const startedAt = performance.now();
    const made = await fill(api, options);
    const fillSeconds = Math.round((performance.now() - startedAt) / 1_000);
    const prices = [...made.values()].flat();
    const totals = {
      plans: await readAll(api, '/plans/search', [...made.keys()]),
      prices: await readAll(api, '/prices/search', prices),
    };
    const vacuumSeconds = await untilVacuumed(demo.database_url, 'prices');
    const plan = await measurePlans(api, made, options);
    const pages = [
      ...(await measurePages(api, '/plans/search', totals.plans, options)),
      ...(await measurePages(api, '/prices/search', totals.prices, options)),
    ];
    const sizes = { plans: made.size, prices: prices.length };
    return { ...sizes, fillSeconds, vacuumSeconds, plan, pages };
  } finally {
    await api.close();
  }
}

async function fill(api: Api, { plans, pricesPerPlan }: CatalogBenchOptions): Promise<Made> {
  const made = new Map<string, readonly string[]>();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < plans) {
      next += 1;
      const { id } = (await api.call('POST', '/plans', { name: `Plan ${next}` })) as Row;
      const items = Array.from({ length: pricesPerPlan }, (_, index) => ({
        entity_type: 'PLAN',
        entity_id: id,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        currency: 'usd',
        amount: String(index + 1),
      }));
      const prices = (await api.call('POST', '/prices/bulk', { items })) as Rows;
      made.set(id, idsOf(prices.items));
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return made;
}

/** Reads a whole list page by page; what was created must be in it, each once. Gives its length. */
async function readAll(api: Api, path: string, created: readonly string[]): Promise<number> {
  const total = await untilShown(api, path, created.length);
  const seen = new Set<string>();
  let last: Row | undefined;
  for (let offset = 0; offset < total; offset += largestPage) {
    const page = (await api.call('POST', path, { limit: largestPage, offset })) as Page;
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

/** Reads of plans at random, each at its time whether or not the ones before are answered. */
async function measurePlans(
  api: Api,
  made: Made,
  { perSecond, readSeconds }: CatalogBenchOptions,
): Promise<Times> {
  const plans = [...made];
  const startedAt = performance.now();
  const reads = Array.from({ length: perSecond * readSeconds }, async (_, index) => {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    const [id, prices] = plans[Math.floor(Math.random() * plans.length)] ?? ['', []];
    const plan = (await api.call('GET', `/plans/${id}`)) as { readonly prices: readonly Row[] };
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
  api: Api,
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
      const page = (await api.call('POST', path, { limit: pageSize, offset })) as Page;
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

/** Waits until the read model shows so many rows; gives how many it shows. */
async function untilShown(api: Api, path: string, least: number): Promise<number> {
  const deadline = Date.now() + shownMilliseconds;
  for (;;) {
    const { pagination } = (await api.call('POST', path, { limit: 1 })) as Page;
    if (pagination.total >= least) return pagination.total;
    if (Date.now() > deadline) throw new OperatorError(`${path} never showed ${least} rows.`);
    await pause(100);
  }
}

function timesOf(taken: readonly number[]): Times {
  const sorted = taken.toSorted((left, right) => left - right);
  const share = (part: number): number =>
    Math.round((sorted[Math.floor((sorted.length - 1) * part)] ?? 0) * 10) / 10;
  return { p50: share(0.5), p99: share(0.99), maximum: share(1), requests: sorted.length };
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

interface Api {
  /** The body of a success. Throws `OperatorError` for everything else. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

function createApi({ base_url, api_key }: Demo): Api {
  const pool = new Pool(base_url, { connections: clients });
  return {
    async call(method, path, body) {
      const answer = await pool.request({
        method,
        path: `/v1${path}`,
        headers: { 'x-api-key': api_key, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode < 300) return JSON.parse(text);
      throw new OperatorError(`${method} ${path} was answered ${answer.statusCode}: ${text}`);
    },
    close: () => pool.close(),
  };
}
