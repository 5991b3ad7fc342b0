import { request } from 'undici';
import { eventually } from './eventually.ts';

/** An answer of the API, parsed. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
  readonly text: string;
  readonly headers: Headers;
}

export interface Caller {
  /** Sends a request: `call('POST', '/wallets', { currency: 'usd' })`. Paths are below /v1. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /**
   * The same, and the body of an answer that must be a success. A read that does not show yet what this caller
   * wrote is repeated until it does.
   */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  /** Waits until the API knows the key and the read models answer. */
  untilKnown(): Promise<void>;
}

/** One read model each, the last ones to be built among them. */
const firstReads = ['/customers?limit=1', '/webhooks/endpoints?limit=1'];

/** Texts and bytes go out as they are, everything else as JSON. */
const textOf = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body);

/** Tells whether a body is JSON; that of a document is none, and nothing has no type. */
const isJson = (headers: Headers): boolean => headers.get('content-type') === 'application/json';

const headersOf = (raw: Readonly<Record<string, string | string[] | undefined>>): Headers =>
  new Headers(
    Object.entries(raw).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    ),
  );

/** A client with one key, as plain as can be: it sends exactly what the test says. */
export function caller(baseUrl: string, apiKey: string): Caller {
  /** The place in the log of the last write of this caller. */
  let written = 0n;
  const call: Caller['call'] = async (method, path, body, headers = {}) => {
    const response = await request(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: textOf(body) }),
    });
    const text = await response.body.text();
    const answered = headersOf(response.headers);
    if (!isRead(method, path)) written = max(written, positionOf(answered) ?? 0n);
    return {
      status: response.statusCode,
      body: text !== '' && isJson(answered) ? JSON.parse(text) : text || null,
      text,
      headers: answered,
    };
  };
  /** Tells that a busy machine does not show everything yet; whoever reads then asks again. */
  const isTooEarly = ({ status, headers }: Answer): boolean =>
    status === 503 || (status === 200 && (positionOf(headers) ?? written) < written);
  return {
    call,
    async ok(method, path, body, headers) {
      let answer = await call(method, path, body, headers);
      if (isRead(method, path) && isTooEarly(answer)) {
        answer = await eventually(
          async () => {
            const next = await call(method, path, body, headers);
            return !isTooEarly(next) && next;
          },
          () => `${method} ${path} never showed what was written at ${written}`,
        );
      }
      if (answer.status >= 300) {
        throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
      }
      return answer.body;
    },
    async untilKnown() {
      await eventually(
        async () => {
          const answers = await Promise.all(firstReads.map((path) => call('GET', path)));
          return answers.every(({ status }) => status === 200);
        },
        () => 'the API does not know the key, or its read models never came',
      );
    },
  };
}

/** Reads change nothing and may be repeated. A search has a body. */
export const isRead = (method: string, path: string): boolean =>
  method === 'GET' || path.endsWith('/search');

const positionOf = (headers: Headers): bigint | null => {
  const position = headers.get('counterfoil-position');
  return position === null ? null : BigInt(position);
};

const max = (left: bigint, right: bigint): bigint => (left > right ? left : right);
