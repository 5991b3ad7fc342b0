import type { z } from 'zod';
import type { RequestContext } from './request-context.ts';
import type { RouteExample } from './route-example.ts';
import type { RouteKey } from './route-key.ts';

export type { RouteKey } from './route-key.ts';

/** A body with the revision that the engine puts into its ETag, for `If-Match`. */
export class WithETag<Body> {
  readonly body: Body;
  readonly revision: number;
  constructor(body: Body, revision: number) {
    this.body = body;
    this.revision = revision;
  }
}

/** Marks a body with the revision of the record it shows. */
export const withETag = <Body>(body: Body, revision: number): WithETag<Body> =>
  new WithETag(body, revision);

/** The answer of a route that is no JSON, such as a document to be printed. */
export class Content {
  /** As the header says it: `application/pdf`. */
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  /** The name under which a browser keeps it. */
  readonly fileName: string;
  constructor(mediaType: string, bytes: Uint8Array, fileName: string) {
    this.mediaType = mediaType;
    this.bytes = bytes;
    this.fileName = fileName;
  }
}

/** The same for an answer that is too large to be held: its pieces are made while they are sent. */
export class ContentStream {
  readonly mediaType: string;
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly fileName: string;
  constructor(mediaType: string, pieces: AsyncIterable<Uint8Array>, fileName: string) {
    this.mediaType = mediaType;
    this.pieces = pieces;
    this.fileName = fileName;
  }
}

/** The bytes of a body as they arrive, decoded. To read beyond the limit of the route, or what breaks off, throws a `Problem`. */
export type BodyStream = AsyncIterable<Uint8Array>;

/** The input of a handler: every part already parsed by its schema. */
export interface RouteInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Of a route that `streams`; it may be read once. Absent where the request has no body. */
  readonly stream?: BodyStream;
}

/** The amount that a JSON body may hold. */
export interface BodyContents {
  /** Members and items of the whole body. */
  readonly values: number;
  /** Numbers with an exponent or more than 15 characters: each is compared exactly, which costs. */
  readonly longNumbers: number;
}

/** A route is data: mounting, validation, documentation and the typed client come from it. */
export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** The name of the operation in generated clients, where method and path do not say it. */
  readonly operationId?: string;
  /** Success code (D3). 204 sends no body. */
  readonly status: 200 | 201 | 202 | 204;
  /** The right that the key's roles must give, `resource:read` or `resource:write`; null: any key. */
  readonly permission: `${string}:read` | `${string}:write` | null;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** True when a request without a body is taken as `{}`. */
  readonly bodyOptional?: boolean;
  /** Size limit of the body in bytes, where it is not the common one. */
  readonly bodyLimitBytes?: number;
  /** The field of the body that is its idempotency key, where that is not `idempotency_key`. */
  readonly keyField?: string;
  /** Limits of what is in the body, where they are not the common ones. */
  readonly bodyContents?: BodyContents;
  /**
   * The media types of a body that is no JSON, and goes to the handler as it arrives, up to `bodyLimitBytes`. Such a route
   * has no schema for its body.
   */
  readonly streams?: readonly string[];
  /** Absent for 204, and where every answer is one of `contents`. */
  readonly response?: Response;
  /** The media types that it may answer in place of JSON, as `Content` or `ContentStream`. GET only. */
  readonly contents?: readonly string[];
  /** Absent when a request succeeds with nothing but the records of its path. */
  readonly example?: RouteExample<Params, Query, Body>;
  readonly handle: (
    context: RequestContext,
    input: RouteInput<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<z.output<Response> | WithETag<z.output<Response>> | undefined>;
}

/** A route that answers contents, or JSON where it has a response schema and the query asks for that. */
export interface ContentRoute<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> extends Omit<Route<Params, Query, z.ZodType, Response>, 'handle' | 'body' | 'example'> {
  readonly contents: readonly string[];
  readonly example?: RouteExample<Params, Query, z.ZodType>;
  readonly handle: (
    context: RequestContext,
    input: RouteInput<z.output<Params>, z.output<Query>, unknown>,
  ) => Promise<Content | ContentStream | z.output<Response>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a table of routes holds every combination of schemas.
export type AnyRoute = Route<any, any, any, any>;

/** By key such as `GET /wallets/{id}`; paths are relative to /v1 and written as in OpenAPI. */
export type Routes = Readonly<Record<RouteKey, AnyRoute>>;

/** Gives a route its exact types. */
export const route = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
>(
  definition: Route<Params, Query, Body, Response>,
): Route<Params, Query, Body, Response> => definition;

/** Gives a route that answers contents its exact types. */
export const contentRoute = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Response extends z.ZodType,
>(
  definition: ContentRoute<Params, Query, Response>,
): ContentRoute<Params, Query, Response> => definition;
