import type { IncomingMessage, ServerResponse } from 'node:http';
import Stripe from 'stripe';
import { Books, StripeRefusal } from './books.ts';
import { faultsOf } from './check.ts';
import type { Placed } from './declarations.ts';
import { readForm } from './form.ts';
import { type Operation, operationOf } from './operations.ts';

/** The ways in which a request is met. `unheard`: it is carried out, and its answer is lost. */
export type StripeFate =
  | 'answers'
  | 'is cut off before'
  | 'is cut off unheard'
  | 'fails before'
  | 'fails unheard'
  | 'is too busy';

/** A request as it came. */
export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly key: string | null;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The connection is cut in place of an answer. */
class Cut extends Error {}

const webhookSecret = 'whsec_dGVzdCBzZWNyZXQgb2YgdGhlIHRlc3Qgc2VydmVy';

/** A webhook as it is sent. */
export interface StripeMessage {
  readonly body: string;
  readonly signature: string;
}

/**
 * Stripe, as far as the adapter uses it, in memory. Every request and every answer is held against the declarations that Stripe
 * publishes with its client: what does not fit ends the test. It keeps idempotency keys, loses answers, refuses, and
 * signs its webhooks.
 */
export class StripeServer {
  readonly webhookSecret = webhookSecret;
  readonly requests: StripeRequest[] = [];
  /** Faults of requests and answers against what is published, in their order. */
  readonly faults: string[] = [];
  /** The way of the next request; `answers` unless a test says otherwise. */
  fate: (request: StripeRequest) => StripeFate = () => 'answers';
  readonly #accounts = new Map<string, Books>();
  readonly #events: { readonly type: string; readonly object: object }[] = [];
  readonly #answers = new Map<string, { readonly digest: string; readonly answer: Answer }>();

  /** The books of the account of a key. */
  booksOf(secretKey: string): Books {
    const known = this.#accounts.get(secretKey);
    if (known) return known;
    const books = new Books((type, object) => {
      this.#events.push({ type, object: structuredClone(object) });
    });
    this.#accounts.set(secretKey, books);
    return books;
  }

  /** Forgets all idempotency keys, as Stripe does after a day. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  /** The webhooks that were not taken yet, signed, oldest first. */
  takeMessages(): StripeMessage[] {
    const seconds = Math.floor(Date.now() / 1_000);
    return this.#events.splice(0).map(({ type, object }, index) => {
      const body = JSON.stringify({
        id: `evt_${index}_${type}`,
        object: 'event',
        type,
        created: seconds,
        livemode: false,
        data: { object },
      });
      return { body, signature: this.sign(body) };
    });
  }

  /** The signature of a body, as the header has it. */
  sign(body: string, secret: string = webhookSecret): string {
    return Stripe.webhooks.generateTestHeaderString({ payload: body, secret });
  }

  /** Answers a request without a network. */
  readonly fetch: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input));
    const headers = new Headers(init?.headers);
    const answer = await this.#answer(init?.method ?? 'GET', pathname, search, {
      authorization: headers.get('authorization'),
      key: headers.get('idempotency-key'),
      body: String(init?.body ?? ''),
    });
    return new Response(JSON.stringify(answer.body), { status: answer.status });
  };

  /** Answers a request over HTTP. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://stripe');
      const { authorization = null, 'idempotency-key': key = null } = request.headers;
      this.#answer(request.method ?? 'GET', pathname, search, {
        ...{ authorization, body },
        key: key === null ? null : String(key),
      }).then(
        (answer) => {
          response.writeHead(answer.status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(answer.body));
        },
        () => response.destroy(),
      );
    });
  }

  async #answer(
    method: string,
    path: string,
    search: string,
    {
      authorization,
      key,
      body,
    }: { authorization: string | null; key: string | null; body: string },
  ): Promise<Answer> {
    const params = readForm(method === 'GET' ? search.slice(1) : body);
    const request = { method, path, params, key };
    this.requests.push(request);
    const fate = this.fate(request);
    if (fate === 'is cut off before') throw new Cut('cut off');
    if (fate === 'fails before') return serverFault;
    if (fate === 'is too busy') return busy;
    const secretKey = authorization?.replace('Bearer ', '') ?? '';
    const answer = this.#once(request, secretKey, () => this.#carriedOut(request, secretKey));
    if (fate === 'is cut off unheard') throw new Cut('cut off');
    return fate === 'fails unheard' ? serverFault : answer;
  }

  /** Carries a request out once for each key: a repetition is answered as the first was. */
  #once(
    { method, path, params, key }: StripeRequest,
    secretKey: string,
    run: () => Answer,
  ): Answer {
    if (method !== 'POST' || key === null) return run();
    const name = `${secretKey} ${key}`;
    const digest = JSON.stringify([path, params]);
    const known = this.#answers.get(name);
    if (known && known.digest !== digest) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.';
      return { status: 400, body: { error: { type: 'idempotency_error', message } } };
    }
    const answer = known?.answer ?? structuredClone(run());
    this.#answers.set(name, { digest, answer });
    return answer;
  }

  #carriedOut({ method, path, params }: StripeRequest, secretKey: string): Answer {
    if (secretKey === '' || secretKey.includes('wrong')) return unauthorised;
    const found = operationOf(method, path);
    if (!found) return unknownRequest(method, path);
    const { operation, id } = found;
    this.#hold(`${method} ${path}`, params, operation.params, 'form');
    try {
      const result = operation.run({ id, params, books: this.booksOf(secretKey) });
      return { status: 200, body: this.#shown(operation, path, result) };
    } catch (error) {
      if (!(error instanceof StripeRefusal)) throw error;
      return { status: error.status, body: error.body };
    }
  }

  #shown({ answer, isList = false }: Operation, path: string, result: unknown): unknown {
    const things = isList ? (result as unknown[]) : [result];
    for (const thing of things) this.#hold(`the answer of ${path}`, thing, answer, 'json');
    return isList ? { object: 'list', data: result, has_more: false, url: path } : result;
  }

  /** Notes what does not fit to what is published. */
  #hold(where: string, value: unknown, placed: Placed | null, writing: 'json' | 'form'): void {
    const faults = placed
      ? faultsOf(value, placed, writing)
      : Object.keys(value as object).map((name) => `.${name}: nobody knows this member`);
    this.faults.push(...faults.map((fault) => `${where} ${fault}`));
  }
}

const errorOf = (status: number, type: string, message: string): Answer => ({
  status,
  body: { error: { type, message } },
});

const serverFault = errorOf(500, 'api_error', 'Something went wrong on our side.');
const busy = errorOf(429, 'invalid_request_error', 'Too many requests hit the API too quickly.');
const unauthorised = errorOf(401, 'invalid_request_error', 'Invalid API Key provided.');
const unknownRequest = (method: string, path: string): Answer =>
  errorOf(404, 'invalid_request_error', `Unrecognized request URL (${method}: ${path}).`);
