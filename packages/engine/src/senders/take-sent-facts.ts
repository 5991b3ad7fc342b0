import type { IncomingHttpHeaders } from 'node:http';
import { type Instant, instantOf, randomId } from '@counterfoil/kernel';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../define/context.ts';
import type { AnyIntake } from '../define/intake.ts';
import type { RouteKey } from '../define/route.ts';
import { gatewayKeys } from '../gateway/keys.ts';
import { type Sender, senderOf, sentSubjects } from '../gateway/sent-subject.ts';
import { failedAnswer } from '../http/answer-message.ts';
import type { HttpServer } from '../http/host.ts';
import type { MessageAnswer } from '../http/message.ts';
import type { Nats } from '../nats/nats-connection.ts';
import { type Message, openMessages } from '../nats/nats-messages.ts';
import type { Log } from '../operations/log.ts';
import { durationBuckets, type Metrics } from '../operations/metrics.ts';
import { InHand } from './in-hand.ts';

interface SentFactsOptions {
  /** A connection of its own: what senders send must not hold up anything else. */
  readonly nats: Nats;
  /** The secret that all of the gateway's keys follow from. */
  readonly seed: Uint8Array;
  readonly intakes: readonly AnyIntake[];
  readonly server: Pick<HttpServer, 'answerMessage'>;
  /** The caller that a sender is; null when its API key counts no more. May throw a `Problem`. */
  readonly callerOf: (sender: Sender) => Principal | null;
  /** The system's time. */
  readonly now: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The facts that systems outside send, as one process of the api takes them. */
export interface SentFacts {
  /** Takes no more, and answers what it has taken. */
  close(): Promise<void>;
}

/** The name under which the processes of the api share what is sent: each message goes to one of them. */
const queue = 'counterfoil-api';
const sendersMaximum = 10_000;
const lastAnswersMilliseconds = 10_000;

/**
 * Takes facts that systems outside send through the gateway, and answers each message when its facts are durable,
 * with what HTTP would have answered. A message that is lost was not answered, so its sender repeats it.
 */
export function takeSentFacts(options: SentFactsOptions): SentFacts {
  const { nats, seed, server, callerOf, now, log } = options;
  const keys = gatewayKeys(seed);
  const known = new LRUCache<string, Sender>({ max: sendersMaximum });
  const routes = new Map(options.intakes.map(({ name, routeOf }) => [name, routeOf]));
  const inHand = new InHand();
  const tell = reportWith(options, inHand);
  let onAnswered: (() => void) | null = null;

  const senderBy = (subject: string): Sender | null => {
    const found = known.get(subject) ?? senderOf(keys, subject);
    if (found) known.set(subject, found);
    return found;
  };

  const answerTo = async (arrival: Arrival, routeOf: (message: Buffer) => RouteKey) => {
    const { message, sender, requestId, receivedAt } = arrival;
    const bytes = Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.length);
    const refusal = inHand.enter(sender.tenantId, bytes.length);
    if (refusal) return finish(arrival, failedAnswer(refusal, requestId));
    const route = routeOf(bytes);
    const request = { route, bytes, headers: headersOf(message), requestId, receivedAt };
    finish(arrival, await server.answerMessage(request, () => callerOf(sender)));
    inHand.leave(sender.tenantId, bytes.length);
    if (inHand.messages === 0) onAnswered?.();
  };

  const finish = (arrival: Arrival, answer: MessageAnswer): void => {
    const { replyTo } = arrival.message;
    if (replyTo !== null) messages.send(replyTo, Buffer.from(answerText(answer)));
    tell(arrival, answer);
  };

  const messages = openMessages(nats, {
    subjects: [sentSubjects],
    queue,
    take: (message) => {
      const sender = senderBy(message.subject);
      const routeOf = sender && routes.get(sender.intake);
      if (!sender || !routeOf) {
        log.warn('a message that did not come through the event gateway is not taken');
        return;
      }
      const receivedAt = instantOf(now());
      const requestId = randomId('req', receivedAt);
      const startedAt = performance.now();
      void answerTo({ message, sender, requestId, receivedAt, startedAt }, routeOf);
    },
  });

  return {
    async close() {
      await messages.stop();
      if (inHand.messages > 0) {
        const answered = new Promise<void>((resolve) => {
          onAnswered = resolve;
        });
        const late = Promise.withResolvers<void>();
        const timer = setTimeout(late.resolve, lastAnswersMilliseconds);
        await Promise.race([answered, late.promise]);
        clearTimeout(timer);
      }
      await messages.close();
    },
  };
}

/** A message that was taken. */
interface Arrival {
  readonly message: Message;
  readonly sender: Sender;
  readonly requestId: string;
  readonly receivedAt: Instant;
  /** Milliseconds of a clock that never jumps. */
  readonly startedAt: number;
}

/** The headers of a message that say how it is carried out, under their names over HTTP. */
function headersOf({ header }: Message): IncomingHttpHeaders {
  const headers: Record<string, string> = {};
  for (const name of ['idempotency-key', 'prefer']) {
    const value = header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/** The JSON of an answer: what HTTP says in its status and headers stands beside the body. */
function answerText({ status, position, retryAfterSeconds, text }: MessageAnswer): string {
  const marks = {
    status,
    ...(position === null ? {} : { position }),
    ...(retryAfterSeconds === null ? {} : { retry_after: retryAfterSeconds }),
  };
  return `${JSON.stringify(marks).slice(0, -1)},"body":${text}}`;
}

/** Makes what writes one line of log for each message, and counts it. */
function reportWith({ log, metrics }: Pick<SentFactsOptions, 'log' | 'metrics'>, inHand: InHand) {
  const durations = metrics.histogram({
    name: 'counterfoil_sent_message_duration_seconds',
    help: 'Time from the arrival of a message with facts to its answer, by the status of that',
    labels: ['intake', 'status'],
    buckets: durationBuckets,
  });
  const unheard = metrics.counter({
    name: 'counterfoil_sent_messages_lost_total',
    help: 'Messages with facts that were refused and whose sender asked for no answer',
    labels: ['intake'],
  });
  metrics.gauge({
    name: 'counterfoil_sent_messages_in_hand',
    help: 'Messages with facts that were taken and are not yet answered',
    collect: (gauge) => gauge.set(inHand.messages),
  });
  // The lines hold nothing secret, and looking for secrets costs more than writing them.
  const lines = log.child({}, { redact: [] });
  return (arrival: Arrival, { status, code }: MessageAnswer): void => {
    const { message, sender, requestId, startedAt } = arrival;
    const { intake, tenantId, environmentId, keyId } = sender;
    const milliseconds = performance.now() - startedAt;
    durations.observe({ intake, status }, milliseconds / 1_000);
    const line = {
      request_id: requestId,
      intake,
      status,
      ms: Math.round(milliseconds * 100) / 100,
      key_id: keyId,
      tenant_id: tenantId,
      environment_id: environmentId,
      code: code ?? undefined,
    };
    if (code === null || message.replyTo !== null) {
      lines.info(line, 'message');
      return;
    }
    unheard.inc({ intake });
    lines.warn(line, 'message refused, and its sender does not hear of it');
  };
}
