import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { type Demo, OperatorError } from './settings.ts';

/** How large the catalogue is and how it is read. The defaults are what the design promises figures for. */
export interface CatalogBenchOptions {
  readonly plans: number;
  readonly pricesPerPlan: number;
  /** Reads of one plan per second, and for how many seconds. */
  readonly perSecond: number;
  readonly seconds: number;
  /** Pages that are read at each depth. */
  readonly pagesPerDepth: number;
}

export const catalogBenchDefaults: CatalogBenchOptions = {
  plans: 10_000,
  pricesPerPlan: 10,
  perSecond: 50,
  seconds: 20,
  pagesPerDepth: 20,
};

/** Milliseconds from when a request was due to its answer. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly maximum: number;
  readonly requests: number;
}

export interface CatalogFigures {
  readonly fillSeconds: number;
  /** `GET /plans/{id}` with its prices. */
  readonly plan: Times;
  /** `POST /plans/search` and `POST /prices/search`, by how far into the list the page is. */
  readonly pages: readonly {
    readonly path: string;
    readonly offset: number;
    readonly times: Times;
  }[];
}

const clients = 16;
const pageSize = 50;
const depths = [0, 0.25, 0.5, 0.75, 1] as const;

/**
 * Fills a running installation with plans and prices and measures reads of them. Throws an `OperatorError`
 * when an answer is wrong: a plan without its prices, a page with rows of another page, a wrong total.
 */
export async function benchCatalog(
  demo: Demo,
  given: Partial<CatalogBenchOptions> = {},
): Promise<CatalogFigures> {
  const options = { ...catalogBenchDefaults, ...given };
  const api = createApi(demo);
  try {
    const startedAt = performance.now();
    const ids = await fill(api, options);
    const fillSeconds = Math.round((performance.now() - startedAt) / 1_000);
    const plan = await measurePlans(api, ids, options);
    const pages = [
      ...(await measurePages(api, '/plans/search', options.plans, options)),
      ...(await measurePages(
        api,
        '/prices/search',
        options.plans * options.pricesPerPlan,
        options,
      )),
    ];
    return { fillSeconds, plan, pages };
  } finally {
    await api.close();
  }
}

async function fill(
  api: Api,
  { plans, pricesPerPlan }: CatalogBenchOptions,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < plans) {
      next += 1;
      const { id } = (await api.call('POST', '/plans', { name: `Plan ${next}` })) as Row;
      const price = {
        entity_type: 'PLAN',
        entity_id: id,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        billing_period: 'MONTHLY',
        invoice_cadence: 'ADVANCE',
        currency: 'usd',
        amount: '10',
      };
      const items = Array.from({ length: pricesPerPlan }, () => price);
      await api.call('POST', '/prices/bulk', { items });
      ids.push(id);
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
  return ids;
}

/** Reads of plans at random, each at its time whether or not the ones before are answered. */
async function measurePlans(
  api: Api,
  ids: readonly string[],
  { perSecond, seconds, pricesPerPlan }: CatalogBenchOptions,
): Promise<Times> {
  await untilShown(api, '/plans/search', ids.length);
  const startedAt = performance.now();
  const reads = Array.from({ length: perSecond * seconds }, async (_, index) => {
    const dueAt = startedAt + (index * 1_000) / perSecond;
    await pause(Math.max(0, dueAt - performance.now()));
    const id = ids[Math.floor(Math.random() * ids.length)];
    const plan = (await api.call('GET', `/plans/${id}`)) as { readonly prices: readonly Row[] };
    if (plan.prices.length !== pricesPerPlan) {
      throw new OperatorError(`${id} was shown with ${plan.prices.length} prices.`);
    }
    return performance.now() - dueAt;
  });
  return timesOf(await Promise.all(reads));
}

/** Pages one after the other, from some depths of the list on; none may repeat a row of another. */
async function measurePages(
  api: Api,
  path: string,
  least: number,
  { pagesPerDepth }: CatalogBenchOptions,
): Promise<CatalogFigures['pages']> {
  const total = await untilShown(api, path, least);
  const pages: { path: string; offset: number; times: Times }[] = [];
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
}

interface Page {
  readonly items: readonly Row[];
  readonly pagination: { readonly total: number };
}

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
