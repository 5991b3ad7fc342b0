import { OperatorError } from './settings.ts';

/** The address of an installation, and a key of one of its environments. */
export interface ApiPlace {
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface CallOptions {
  readonly body?: unknown;
  /** The body as JSON text, in the place of `body`: it goes out as it is. */
  readonly text?: string;
  /** A body that is no JSON, in the place of both. */
  readonly bytes?: Uint8Array;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

const answerMilliseconds = 60_000;

/**
 * Sends one request to the API. Returns refusals as they are; throws `OperatorError` when there is no
 * answer, or none in JSON.
 */
export async function callApi(
  { baseUrl, apiKey }: ApiPlace,
  method: string,
  path: string,
  { body, text = JSON.stringify(body), bytes, idempotencyKey, signal }: CallOptions = {},
): Promise<ApiAnswer> {
  const limit = AbortSignal.timeout(answerMilliseconds);
  try {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...(bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(text === undefined ? {} : { body: text }),
      ...(bytes === undefined ? {} : { body: Buffer.from(bytes) }),
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    });
    const answer = await response.text();
    return { status: response.status, body: answer === '' ? null : JSON.parse(answer) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`${baseUrl} does not answer: ${reason}`);
  }
}

interface RefusalBody {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

/** The code of a refusal; undefined for a success. */
export const refusalCode = ({ status, body }: ApiAnswer): string | undefined =>
  status < 300 ? undefined : ((body as RefusalBody | null)?.code ?? String(status));

/**
 * The body of a success. Throws `OperatorError` with everything that a refusal says: its sentence, which
 * names the place of a single fault, and the places of several.
 */
export function bodyOf({ status, body }: ApiAnswer): unknown {
  if (status < 300) return body;
  const { message, errors = [] } = (body ?? {}) as RefusalBody;
  const several = errors.length > 1 ? errors : [];
  const places = several.map((fault) => `  ${fault.pointer}: ${fault.message}`);
  throw new OperatorError([message ?? `The API answered ${status}.`, ...places].join('\n'));
}
