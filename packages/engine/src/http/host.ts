import type { Instant } from '@counterfoil/kernel';
import type { OwnedPlace } from '../decide/ownership.ts';
import type { Principal } from '../define/context.ts';
import type { Module } from '../define/module.ts';
import type { RequestContext } from '../define/request-context.ts';
import type { RouteKey } from '../define/route.ts';
import type { Position } from '../log/types.ts';
import type { Sized } from '../members/handover.ts';
import type { HealthCheck } from '../operations/health.ts';
import type { Log } from '../operations/log.ts';
import type { Metrics } from '../operations/metrics.ts';
import type { RunMarks } from './answer.ts';
import type { HandedAnswer, HandedRequest, MadeKey } from './handed-request.ts';
import type { httpDefaults } from './limits.ts';
import type { MessageAnswer, MessageRequest } from './message.ts';
import type { PathWords } from './operation-id.ts';

/** A request that has passed every check of form and access and is about to be handled. */
export interface BeginRequest {
  readonly principal: Principal;
  readonly requestId: string;
  /** The arrival of the request by the system's clock. */
  readonly receivedAt: Instant;
  readonly route: RouteKey;
  /** Method and concrete path below /v1, canonically written: `POST /wallets/wallet_01…/debit`. */
  readonly operation: string;
  /** From the header or from the body; null when neither has one. */
  readonly idempotencyKey: string | null;
  /**
   * The fields of the request, for the digest: the top-level fields of the parsed body (or `body`, when
   * it is no object), of the query and of the path, without the idempotency key. A name that occurs
   * twice gets a prefix for the query (`query.limit`) and the path (`path.id`).
   */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Revision that `If-Match` names; null when there is no condition. */
  readonly ifMatch: number | null;
  /** Position that the caller wants to see at least; null when the request names none. */
  readonly minimumPosition: Position | null;
  /** True when the request may turn out to be better carried out elsewhere: see `OwnedElsewhere`. */
  readonly mayGoElsewhere?: boolean;
  /** A key for a request that goes elsewhere and has none of its caller. */
  readonly madeKey?: MadeKey | null;
}

/** A request that its handler is carrying out. The getters are read when the handler is done. */
export interface RequestRun extends RunMarks {
  readonly context: RequestContext;
}

/** The host that carries requests out: the command side and the reading side. */
export interface RequestHost {
  begin(request: BeginRequest): RequestRun;
}

/** The way to the other processes that serve the same API. */
export interface Elsewhere {
  /** The process to which requests about a stream are better handed over; null when it is this one. */
  ownerElsewhere(stream: string): string | null;
  /**
   * Hands over a request that came at an instant of `performance.now()`. Null when no answer came in time: it is
   * then carried out here.
   */
  handOver(
    place: OwnedPlace,
    request: Sized<HandedRequest>,
    startedAt: number,
  ): Promise<HandedAnswer | null>;
  /** Takes over what was written elsewhere for a caller of this process, so that the caller sees it here. */
  written(caller: Principal, stream: string, position: Position): Promise<void>;
}

/** Requests per second that one API key may make of one process. */
export interface RateLimit {
  readonly perSecond: number;
  /** The limit of one key, where it differs; null for the common one. */
  readonly perSecondOf?: (principal: Principal) => number | null;
}

/** So many bytes in so many milliseconds. */
export interface BodyPace {
  readonly everyMs: number;
  readonly bytes: number;
}

/** The description of an API in its OpenAPI document, beside what its routes say. */
export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  /** The introduction, in Markdown. */
  readonly description: string;
  /** The meaning of each tag. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Names of records for words of paths that differ from them. */
  readonly pathWords?: PathWords;
  /**
   * The meaning of fields, parameters and schemas that have no description of their own, by name, or by
   * `Schema.name` where the field of one schema means something else.
   */
  readonly fields?: Readonly<Record<string, string>>;
  /** The requests that the service sends, by type of event. */
  readonly webhooks?: Readonly<Record<string, Webhook>>;
  /** JSON Schemas that those bodies refer to and that no route has. */
  readonly schemas?: Readonly<Record<string, unknown>>;
}

/** A request that the service sends to a webhook endpoint. */
export interface Webhook {
  readonly summary: string;
  /** JSON Schema of the body; its references lead to `components.schemas`. */
  readonly body: object;
}

/** The answer to a question that needs no key. */
export type OpenQuestion = (query: Readonly<Record<string, string>>) => object;

/** A message that another system sends without a key. */
export interface Notice {
  /** The values of the placeholders of its path. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly header: (name: string) => string | null;
  /** The body as it came, decoded. */
  readonly bytes: Uint8Array;
  readonly requestId: string;
}

/** Takes a notice. It has to prove by the bytes who has sent them, and throws the `Problem` that is answered. */
export type TakeNotice = (notice: Notice) => Promise<void>;

/** The parts and the limits of an HTTP server. */
export interface HttpOptions {
  readonly modules: readonly Module[];
  readonly host: RequestHost;
  /** The other processes; without them every request is carried out where it arrived. */
  readonly elsewhere?: Elsewhere;
  /** The principal of an API key; null when the key is unknown, expired or revoked. */
  authenticate(apiKey: string): Principal | null | Promise<Principal | null>;
  /** The checks that /readyz reports. */
  readonly health: readonly HealthCheck[];
  readonly metrics: Metrics;
  readonly log: Log;
  readonly info: ApiInfo;
  /** Documents that are served beside the OpenAPI document, by path: `/asyncapi.json`. Each gives the same whenever it is asked for. */
  readonly documents?: Readonly<Record<`/${string}.json`, () => object>>;
  /**
   * Questions that anybody may ask without a key, by path: pure functions of the query, which read no record. They
   * throw the `Problem` that is answered.
   */
  readonly openQuestions?: Readonly<Record<`/${string}`, OpenQuestion>>;
  /** Messages of other systems, by path with placeholders such as `:tenant_id`. */
  readonly notices?: Readonly<Record<`/${string}`, TakeNotice>>;
  /** Size limit of a request body, in bytes, where the route has none of its own. Default 64 KiB. */
  readonly bodyLimitBytes?: number;
  /** Default: 2,000 per second for every key. */
  readonly rateLimit?: RateLimit;
  /** Time to receive a request, and again to answer it, in milliseconds. Default 30 seconds. */
  readonly requestTimeoutMs?: number;
  /** Requests whose body is there that may be in hand at once; the others are 503. Default 4,000. */
  readonly maximumInFlight?: number;
  /** Members of requests that nobody knows are refused with 400, or ignored (D6). Default: refused. */
  readonly unknownNames?: 'refuse' | 'ignore';
  /** Open requests of one tenant, those whose body is still coming too; the others are 429. Default 500. */
  readonly maximumPerTenant?: number;
  /** Bytes of the larger bodies of one tenant that are read and not yet answered; others wait. Default 8 MiB. */
  readonly bodyRoomBytes?: number;
  /** The least that must arrive while a body is read; a slower one is 408. Default 5 KiB every 5 s. */
  readonly bodyPace?: BodyPace;
  /** Origins whose pages may call from a browser; `*` is all. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** True to check each response against the schema of its route. Default: in tests only. */
  readonly validateResponses?: boolean;
  /**
   * Writes the document of a path as JSON, away from this process, which serves nobody for the seconds that a large one
   * takes. Without it they are made here. Asked for each of them once, unless it rejects.
   */
  readonly writeDocument?: (path: string) => Promise<string>;
}

/** The options with their defaults. */
export type HttpSettings = HttpOptions &
  Required<Pick<HttpOptions, keyof typeof httpDefaults | 'validateResponses'>>;

/** An HTTP server of routes. */
export interface HttpServer {
  /** Starts to accept. Port 0 takes a free one; the answer says which. */
  listen(port: number, host: string): Promise<{ readonly port: number }>;
  /**
   * Stops accepting, lets requests in hand finish for at most `drainMs` milliseconds and then cuts
   * the remaining connections. From the call on, /readyz says no.
   */
  close(drainMs: number): Promise<void>;
  /** Carries out a request that another process hands over; null when that cannot be done here. */
  carryOut(request: HandedRequest, caller: Principal): Promise<Sized<HandedAnswer> | null>;
  /** Answers a request that came in a message, whose caller counts (or not: null). It does not reject. */
  answerMessage(request: MessageRequest, callerOf: () => Principal | null): Promise<MessageAnswer>;
  /** All routes, in the order in which they are shown. */
  readonly routeKeys: readonly RouteKey[];
}
