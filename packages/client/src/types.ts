import type { ContentRoute, Route, Routes } from '@counterfoil/engine/define';
import type { z } from 'zod';

/** Names of the placeholders of a path: `GET /wallets/{id}` has `id`. */
type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameters<Rest>
  : never;

/** A schema that a route does not have is inferred as a schema of anything. */
type InputOf<Schema> = Schema extends z.ZodType
  ? unknown extends z.input<Schema>
    ? never
    : z.input<Schema>
  : never;

type PathPart<Key extends string> = [PathParameters<Key>] extends [never]
  ? object
  : { readonly params: Readonly<Record<PathParameters<Key>, string>> };

type QueryPart<Query> = [InputOf<Query>] extends [never]
  ? object
  : { readonly query?: InputOf<Query> };

type BodyPart<Body> = [InputOf<Body>] extends [never]
  ? object
  : object extends InputOf<Body>
    ? { readonly body?: InputOf<Body> }
    : { readonly body: InputOf<Body> };

/** Options that every request may have. */
export interface CallOptions {
  /** POST only: the same key has one effect and one answer, for ever. */
  readonly idempotencyKey?: string;
  /** Change only what is at this revision, else 412. */
  readonly ifMatch?: number;
  /** Read what shows at least this position of the log, else 503. */
  readonly minimumPosition?: string;
  readonly signal?: AbortSignal;
}

/** The request of a route: path parameters, query and body as its schemas take them. */
export type RequestOf<Table extends Routes, Key extends keyof Table & string> =
  Table[Key] extends Route<infer _Params, infer Query, infer Body, infer _Response>
    ? PathPart<Key> & QueryPart<Query> & BodyPart<Body> & CallOptions
    : Table[Key] extends ContentRoute<infer _Params, infer Query, infer _Response>
      ? PathPart<Key> & QueryPart<Query> & CallOptions
      : never;

/** The body of a route's success; undefined where it has none, bytes where it is no JSON. */
export type ResponseOf<Table extends Routes, Key extends keyof Table & string> =
  Table[Key] extends Route<infer _Params, infer _Query, infer _Body, infer Response>
    ? unknown extends z.output<Response>
      ? undefined
      : z.output<Response>
    : Table[Key] extends ContentRoute<infer _Params, infer _Query, infer Response>
      ? unknown extends z.output<Response>
        ? Uint8Array
        : Uint8Array | z.output<Response>
      : never;

/** A request may be left out when nothing in it is required. */
export type Arguments<Request> = object extends Request ? [request?: Request] : [request: Request];

/** Calls one route by its key. */
export type Client<Table extends Routes> = <Key extends keyof Table & string>(
  key: Key,
  ...request: Arguments<RequestOf<Table, Key>>
) => Promise<Answer<ResponseOf<Table, Key>>>;

/** A success, with what the headers say about it. */
export interface Answer<Body> {
  readonly body: Body;
  readonly status: number;
  /** Revision of the record that the body shows; null when it shows none. */
  readonly revision: number | null;
  /** Position of what the request wrote, for `minimumPosition` of reads elsewhere. */
  readonly position: string | null;
  /** True when an earlier request with the same idempotency key got this answer first. */
  readonly replayed: boolean;
}
