import type { Routes } from '@counterfoil/engine/define';
import type { ProblemReason } from '@counterfoil/kernel';
import type { Answer, CallOptions, Client } from './types.ts';

/** The API refused or could not answer. `body` is the error body of the service, if it sent one. */
export class CounterfoilError extends Error {
  readonly status: number;
  readonly code: string;
  /** The reason of an `invalid_operation` (D38), which tells refusals with the same code apart. */
  readonly reason: ProblemReason | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const told = body as {
      readonly code?: string;
      readonly message?: string;
      readonly details?: CounterfoilError['details'] & { readonly reason?: ProblemReason };
    } | null;
    super(told?.message ?? `The service answered ${status}.`);
    this.name = 'CounterfoilError';
    this.status = status;
    this.code = told?.code ?? 'unknown';
    this.details = told?.details;
    this.reason = told?.details?.reason;
    this.body = body;
  }
}

export interface ClientOptions {
  /** Such as `http://127.0.0.1:4000`, with or without a slash or `/v1` at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
}

interface LooseRequest extends CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/**
 * A client whose requests and answers have the types of the routes: a wrong body, a missing path
 * parameter or an unknown route does not compile. Rejects with `CounterfoilError` when the answer is
 * a failure, and as `fetch` does when there is no answer.
 */
export function createClient<Table extends Routes>(options: ClientOptions): Client<Table> {
  const send = options.fetch ?? fetch;
  const baseUrl = options.baseUrl.replace(/(?:\/v1)?\/*$/, '');
  const call = async (key: string, request: LooseRequest = {}): Promise<Answer<unknown>> => {
    const [method = 'GET', template = '/'] = key.split(' ');
    const hasBody = request.body !== undefined;
    const response = await send(`${baseUrl}/v1${pathOf(template, request)}`, {
      method,
      headers: headersOf(options.apiKey, request, hasBody),
      ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
      ...(request.signal ? { signal: request.signal } : {}),
    });
    const body = await bodyOf(response);
    if (!response.ok) throw new CounterfoilError(response.status, body ?? null);
    const tag = response.headers.get('etag');
    return {
      body,
      status: response.status,
      revision: revisionIn(tag),
      position: response.headers.get('counterfoil-position'),
      replayed: response.headers.get('idempotency-replayed') === 'true',
    };
  };
  return call as Client<Table>;
}

/** The bytes of a document, and the JSON of everything else; undefined for no body. */
async function bodyOf(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && /^(?:application\/pdf|text\/html)/.test(type)) return response.bytes();
  const text = await response.text();
  return text === '' ? undefined : parse(text);
}

function pathOf(template: string, { params = {}, query = {} }: LooseRequest): string {
  const path = template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

const headersOf = (
  apiKey: string,
  { idempotencyKey, ifMatch, minimumPosition }: CallOptions,
  hasBody: boolean,
): Record<string, string> => ({
  'x-api-key': apiKey,
  ...(hasBody ? { 'content-type': 'application/json' } : {}),
  ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  ...(ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }),
  ...(minimumPosition === undefined ? {} : { 'counterfoil-min-position': minimumPosition }),
});

/** The revision at the beginning of an ETag; null when it has none. */
function revisionIn(tag: string | null): number | null {
  const [, revision] = /^"(\d+)(?:-.*)?"$/.exec(tag ?? '') ?? [];
  return revision === undefined ? null : Number(revision);
}

/** A proxy in between may answer with something other than JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text.slice(0, 200) };
  }
}
