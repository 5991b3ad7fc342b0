import { Pool } from 'undici';
import type { Random } from './chance.ts';
import type { LoadRequest } from './requests.ts';

/** The answer of the API. */
export type Answer =
  | { readonly kind: 'success'; readonly isReplayed: boolean; readonly position: bigint | null }
  /** Final: the request has no effect, and never will have under this key. */
  | { readonly kind: 'refused'; readonly code: string }
  /** It may or may not have had an effect: a broken connection, or an answer of 5xx or 429. */
  | { readonly kind: 'unknown'; readonly code: string };

/** Longest wait for an answer; the API itself gives up before. */
const answerMilliseconds = 40_000;

interface SenderOptions {
  /** The addresses of the api. */
  readonly baseUrls: readonly string[];
  readonly apiKey: string;
  /** Connections to each of them. */
  readonly connections: number;
  readonly random: Random;
}

/**
 * Sends requests over its own connections: kept alive, one request at a time on each. Each goes to one of
 * the addresses, at random.
 */
export class Sender {
  readonly #pools: readonly Pool[];
  readonly #random: Random;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: SenderOptions) {
    this.#random = options.random;
    this.#pools = options.baseUrls.map(
      (baseUrl) =>
        new Pool(baseUrl, {
          connections: options.connections,
          pipelining: 1,
          headersTimeout: answerMilliseconds,
          bodyTimeout: answerMilliseconds,
        }),
    );
    this.#headers = { 'x-api-key': options.apiKey, 'content-type': 'application/json' };
  }

  /** Sends a request once. Never rejects. */
  async send(request: LoadRequest, headers?: Readonly<Record<string, string>>): Promise<Answer> {
    const { method, path, body, key } = request;
    try {
      const answer = await this.#pool.request({
        method,
        path: `/v1${path}`,
        headers: { ...this.#headers, ...(key ? { 'idempotency-key': key } : {}), ...headers },
        ...(body === null ? {} : { body }),
      });
      const { statusCode } = answer;
      if (statusCode < 300) {
        await answer.body.dump();
        return {
          kind: 'success',
          isReplayed: answer.headers['idempotency-replayed'] === 'true',
          position: positionOf(answer.headers['counterfoil-position']),
        };
      }
      const code = `${statusCode} ${codeOf(await answer.body.text())}`;
      const isFinal = statusCode < 500 && statusCode !== 429;
      return { kind: isFinal ? 'refused' : 'unknown', code };
    } catch (error) {
      return { kind: 'unknown', code: `connection ${nameOf(error)}` };
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }

  /** With one address no chance is used, so that the same seed sends the same requests. */
  get #pool(): Pool {
    const { length } = this.#pools;
    const pool = this.#pools[length === 1 ? 0 : Math.floor(this.#random() * length)];
    if (!pool) throw new Error('A sender needs an address.');
    return pool;
  }
}

const positionOf = (header: string | string[] | undefined): bigint | null =>
  typeof header === 'string' ? BigInt(header) : null;

function codeOf(text: string): string {
  try {
    return (JSON.parse(text) as { readonly code?: string }).code ?? 'without a code';
  } catch {
    return 'without a body';
  }
}

const nameOf = (error: unknown): string =>
  error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? error.name) : 'failed';
