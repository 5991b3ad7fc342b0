import { Problem } from '@counterfoil/kernel';
import type { Request, Response } from 'express';
import { durationBuckets } from '../operations/metrics.ts';
import { createBodyRoom } from './body-room.ts';
import type { Connections } from './connections.ts';
import type { Endpoint } from './endpoint.ts';
import { type Exchange, endpointOf, exchangeOf, principalOf } from './exchange.ts';
import type { HttpSettings } from './host.ts';
import { type BodyBytes, declaredBytes } from './read-body.ts';
import { hasBody } from './request-headers.ts';
import { sendProblem } from './respond.ts';
import { isOpen, type Step } from './steps.ts';
import type { Turns } from './turns.ts';

type TrafficOptions = Pick<
  HttpSettings,
  | 'log'
  | 'metrics'
  | 'requestTimeoutMs'
  | 'maximumInFlight'
  | 'maximumPerTenant'
  | 'bodyLimitBytes'
  | 'bodyRoomBytes'
  | 'bodyPace'
> & { readonly turns: Turns };

/** Status in logs and metrics for a caller that disconnected before the answer. */
const clientClosed = 499;
const maximumLoggedPath = 256;

const pathOf = (request: Request): string => {
  const { originalUrl } = request;
  const mark = originalUrl.indexOf('?');
  return originalUrl.slice(0, Math.min(mark < 0 ? originalUrl.length : mark, maximumLoggedPath));
};

/** Ends a request that has not arrived in time, and its connection with it: the rest is not read. */
function giveUpReading(response: Response): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
  const message = 'The request body did not arrive in time. Send it again.';
  sendProblem(response, new Problem('request_timeout', message));
}

/** Ends a request for whose body there was no room in time: nothing of it has been read. */
function giveUpWaiting(response: Response): void {
  response.setHeader('Connection', 'close');
  sendProblem(response, tooManyOpen());
}

/** Ends a request whose time is up. Its effect, if any, is in the log, where a repetition finds it. */
function endLate(response: Response): void {
  const { pace, stage } = exchangeOf(response);
  if (pace || stage === 'waiting') {
    (pace ? giveUpReading : giveUpWaiting)(response);
    return;
  }
  const message =
    'The request took too long. Its effect is unknown; repeat it with the same Idempotency-Key.';
  sendProblem(response, new Problem('service_unavailable', message));
}

/** After the next reading: when the process itself was late, the rest of the request is waiting there. */
const onDeadline = (response: Response): void => {
  setImmediate(endLate, response);
};

/** The steps that watch over every request. */
export interface Traffic {
  /**
   * Watches over a request: limits its time, and at its end writes one line of log (no body, no query, no
   * header) and one duration.
   */
  readonly watch: Step;
  /** Refuses a request when its tenant has too many open. */
  readonly share: Step;
  /** Lets a request with a large body wait until its tenant has room for it. */
  readonly makeRoom: Step;
  /** Watches over the pace of a body that is going to be read. */
  readonly receive: Step;
  /** Refuses a request that has arrived when too many are in hand. */
  readonly admit: Step;
  /** Lets a request wait for the turn of its tenant. */
  readonly takeTurn: Step;
}

/** Makes the steps that watch over every request. */
export function createTraffic(options: TrafficOptions, connections: Connections): Traffic {
  const { metrics, turns, requestTimeoutMs, maximumInFlight, maximumPerTenant } = options;
  const durations = metrics.histogram({
    name: 'counterfoil_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its answer',
    labels: ['route', 'status'],
    buckets: durationBuckets,
  });
  // The lines hold nothing secret, and looking for secrets costs more than writing them.
  const log = options.log.child({}, { redact: [] });
  let inFlight = 0;
  const openOf = new Map<string, number>();
  metrics.gauge({
    name: 'counterfoil_http_requests_in_flight',
    help: 'Requests that have arrived and are being answered',
    collect: (gauge) => gauge.set(inFlight),
  });

  function leave(exchange: Exchange): void {
    if (exchange.deadline) clearTimeout(exchange.deadline);
    endReading(exchange);
    exchange.bytes?.giveBack();
    if (exchange.stage === 'in_hand') inFlight -= 1;
    if (exchange.stage === 'arrived') return;
    const { tenantId } = principalOf(exchange);
    const open = openOf.get(tenantId) ?? 0;
    if (open > 1) openOf.set(tenantId, open - 1);
    else openOf.delete(tenantId);
    exchange.place?.leave();
  }

  function onClose(this: Response): void {
    const exchange = exchangeOf(this);
    leave(exchange);
    const { req: request } = this;
    const status = this.writableFinished ? this.statusCode : clientClosed;
    const milliseconds = performance.now() - exchange.startedAt;
    durations.observe({ route: exchange.label, status }, milliseconds / 1_000);
    const line = {
      request_id: exchange.requestId,
      method: request.method,
      path: pathOf(request),
      route: exchange.label,
      status,
      ms: Math.round(milliseconds * 100) / 100,
      key_id: exchange.principal?.keyId,
      tenant_id: exchange.principal?.tenantId,
      code: exchange.failure ?? undefined,
    };
    if (exchange.isRoutine) log.debug(line, 'request');
    else log.info(line, 'request');
    connections.onAnswered();
  }

  return {
    watch: (_request, response, next) => {
      response.on('close', onClose);
      if (connections.isClosing()) response.setHeader('Connection', 'close');
      exchangeOf(response).deadline = setTimeout(onDeadline, requestTimeoutMs, response);
      next();
    },
    share: (_request, response, next) => {
      const exchange = exchangeOf(response);
      const { tenantId } = principalOf(exchange);
      const open = openOf.get(tenantId) ?? 0;
      if (open >= maximumPerTenant) throw tooManyOpen();
      openOf.set(tenantId, open + 1);
      exchange.stage = 'open';
      next();
    },
    makeRoom: makeRoomWith(options),
    receive: (request, response, next) => {
      if (hasBody(request.headers)) watchPace(request, response, options);
      next();
    },
    admit: (_request, response, next) => {
      const exchange = exchangeOf(response);
      endReading(exchange);
      if (inFlight >= maximumInFlight) throw tooManyInHand();
      inFlight += 1;
      exchange.stage = 'in_hand';
      exchange.deadline?.refresh();
      next();
    },
    takeTurn: (_request, response, next) => {
      const exchange = exchangeOf(response);
      const { tenantId } = principalOf(exchange);
      const goOn = () => {
        if (isOpen(response)) next();
      };
      turns.take(tenantId, goOn, receivingMs(exchange.bytes));
    },
  };
}

/** Bytes of a body that take the thread a millisecond to receive (Node 24: 3.9 MB took 3.3 ms). */
const receivedPerMs = 1024 * 1024;

/** Milliseconds of the thread that a body has cost before its turn, in small parts that keep nobody waiting. */
const receivingMs = (body: BodyBytes | null): number =>
  body === null ? 0 : body.bytes.length / receivedPerMs;

function makeRoomWith({
  bodyLimitBytes,
  bodyRoomBytes,
}: Pick<TrafficOptions, 'bodyLimitBytes' | 'bodyRoomBytes'>): Step {
  const room = createBodyRoom(bodyRoomBytes);
  return (request, response, next) => {
    const exchange = exchangeOf(response);
    const bytes = bytesToRead(request, endpointOf(exchange));
    if (bytes <= bodyLimitBytes) return next();
    exchange.stage = 'waiting';
    exchange.place = room.ask(principalOf(exchange).tenantId, bytes, () => {
      if (!isOpen(response)) return;
      exchange.stage = 'open';
      exchange.deadline?.refresh();
      next();
    });
  };
}

/** Bytes of the body of a request that may be read: as many as it declares, or as its route takes; none above that. */
function bytesToRead(request: Request, { bodyLimitBytes }: Endpoint): number {
  if (!hasBody(request.headers)) return 0;
  const declared = declaredBytes(request) ?? bodyLimitBytes;
  return declared > bodyLimitBytes ? 0 : declared;
}

const tooManyOpen = (): Problem =>
  new Problem(
    'too_many_requests',
    'This tenant has too many requests open at once. Repeat after Retry-After seconds.',
    { retryAfterSeconds: 1 },
  );

const tooManyInHand = (): Problem =>
  new Problem(
    'service_unavailable',
    'The service has too many requests in hand. Repeat after Retry-After seconds.',
    { retryAfterSeconds: 1 },
  );

/**
 * Gives a request up whose body comes more slowly than the pace, in a turn of its tenant's: many that came at once are
 * late at once.
 */
function watchPace(
  request: Request,
  response: Response,
  { turns, bodyPace: { everyMs, bytes } }: Pick<TrafficOptions, 'turns' | 'bodyPace'>,
): void {
  const exchange = exchangeOf(response);
  const { tenantId } = principalOf(exchange);
  let seen = request.socket.bytesRead;
  const giveUp = (): void => {
    if (exchange.pace !== null) giveUpReading(response);
  };
  const judge = (): void => {
    if (exchange.pace === null) return;
    const { bytesRead } = request.socket;
    if (bytesRead - seen < bytes) turns.take(tenantId, giveUp);
    else seen = bytesRead;
  };
  // After the next reading, as with the deadline.
  exchange.pace = setInterval(() => setImmediate(judge), everyMs);
}

function endReading(exchange: Exchange): void {
  if (exchange.pace) clearInterval(exchange.pace);
  exchange.pace = null;
}
