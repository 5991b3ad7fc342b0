import { Pool } from 'undici';

/** What the clients of one scenario saw. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** Answer times in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly maximum: number;
  /** By status code; 0 stands for a broken connection. */
  readonly statuses: Readonly<Record<number, number>>;
}

export interface LoadOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clients: number;
  readonly seconds: number;
  /** The nth request: path below /v1 and body. */
  readonly request: (n: number) => { readonly path: string; readonly body: unknown };
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/**
 * Sends requests from so many clients at once, each its next one as soon as it has the answer to
 * the last, for so many seconds.
 */
export async function closedLoop(options: LoadOptions): Promise<LoadResult> {
  const pool = new Pool(options.baseUrl, { connections: options.clients });
  const times: number[] = [];
  const statuses: Record<number, number> = {};
  const headers = { 'x-api-key': options.apiKey, 'content-type': 'application/json' };
  const startedAt = performance.now();
  const endsAt = startedAt + options.seconds * 1_000;
  let sent = 0;

  const one = async (): Promise<number> => {
    const { path, body } = options.request(sent++);
    try {
      const answer = await pool.request({
        method: 'POST',
        path: `/v1${path}`,
        headers,
        body: JSON.stringify(body),
      });
      await answer.body.dump();
      return answer.statusCode;
    } catch {
      return 0;
    }
  };
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const before = performance.now();
      const status = await one();
      times.push(performance.now() - before);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  const seconds = (performance.now() - startedAt) / 1_000;
  await pool.close();
  times.sort((a, b) => a - b);
  return {
    requests: times.length,
    seconds,
    perSecond: times.length / seconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    maximum: times.at(-1) ?? 0,
    statuses,
  };
}
