import { setTimeout as pause } from 'node:timers/promises';

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
  /** The same, and the body of an answer that must be a success. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  ok(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>;
  /** Waits until the API knows the key and the read models answer. */
  untilKnown(): Promise<void>;
}

const knownMilliseconds = 10_000;
const pollMilliseconds = 10;
/** One read model each, the last ones to be built among them. */
const firstReads = ['/customers?limit=1', '/webhooks/endpoints?limit=1'];

/** Texts and bytes go out as they are, everything else as JSON. */
const textOf = (body: unknown): string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(body);

/** A client with one key, as plain as can be: it sends exactly what the test says. */
export function caller(baseUrl: string, apiKey: string): Caller {
  const call: Caller['call'] = async (method, path, body, headers = {}) => {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: textOf(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? null : JSON.parse(text),
      text,
      headers: response.headers,
    };
  };
  return {
    call,
    async ok(method, path, body, headers) {
      const answer = await call(method, path, body, headers);
      if (answer.status >= 300) {
        throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
      }
      return answer.body;
    },
    async untilKnown() {
      const deadline = Date.now() + knownMilliseconds;
      while (Date.now() < deadline) {
        const answers = await Promise.all(firstReads.map((path) => call('GET', path)));
        if (answers.every(({ status }) => status === 200)) return;
        await pause(pollMilliseconds);
      }
      throw new Error('the API does not know the key, or its read models never came');
    },
  };
}
