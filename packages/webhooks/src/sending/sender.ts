import { type Agent, type Dispatcher, request } from 'undici';
import { type AddressRecord, addressRecordingAgent } from './address-recording-agent.ts';
import type { OutgoingRequest } from './request.ts';
import type { ResolveName } from './resolve-name.ts';
import {
  type AttemptResult,
  type FailureReason,
  readInstruction,
  readRetryAfter,
} from './retry.ts';
import { guardedConnector } from './target-guard.ts';
import type { TargetPolicy } from './target-policy.ts';

/** Limits of one attempt, in milliseconds and bytes. */
export interface SendLimits {
  readonly connectTimeout: number;
  /** From the request to the status line and headers. */
  readonly headersTimeout: number;
  /** For everything, the answer's body included. */
  readonly totalTimeout: number;
  /** Bytes of the answer that are read; the connection is cut after them. */
  readonly answerBytes: number;
  /** Characters of the answer that are kept for the people who look for a mistake. */
  readonly answerHead: number;
}

/** The limits of production. */
export const standardSendLimits: SendLimits = {
  connectTimeout: 5_000,
  headersTimeout: 15_000,
  totalTimeout: 15_000,
  answerBytes: 16 * 1024,
  answerHead: 1024,
};

/** The outcome of one attempt. */
export interface Sent {
  readonly result: AttemptResult;
  /** The beginning of the answer's body, or what went wrong; never null characters. */
  readonly detail: string;
  readonly milliseconds: number;
  /** The address that it was sent to; null when there was no connection. */
  readonly address: string | null;
}

/** Sends requests to addresses that the policy allows. */
export interface Sender {
  /** POSTs once, follows no redirect and never throws. The signal cuts it off before its time. */
  send(outgoing: OutgoingRequest, signal?: AbortSignal): Promise<Sent>;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** The reason of a signal that gives a request up before its time, for the sake of others. */
export class RequestCut extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RequestCut';
  }
}

const maximumHeaderBytes = 16 * 1024;

/** The longest rest of a connection; a server may ask for less, and not for more. */
const idleConnectionMs = 10_000;
/**
 * However busy a connection is, it is replaced after this time: a name that has come to stand for
 * another address is followed, and that address is checked.
 */
const connectionLifeMs = 60_000;

/** A sender whose connections all pass the guard (target-guard.ts). */
export function createSender(options: {
  readonly policy: TargetPolicy;
  readonly limits?: SendLimits;
  readonly resolve?: ResolveName;
}): Sender {
  const { policy, resolve, limits = standardSendLimits } = options;
  const agent = addressRecordingAgent({
    connect: guardedConnector({
      policy,
      connectTimeout: limits.connectTimeout,
      ...(resolve ? { resolve } : {}),
    }),
    // Without a bound here on purpose: many tenants may send to the same host, and one whose path
    // hangs there must not use up the others' connections. The dispatcher bounds what is in flight.
    connections: null,
    pipelining: 1,
    headersTimeout: limits.headersTimeout,
    bodyTimeout: limits.totalTimeout,
    maxHeaderSize: maximumHeaderBytes,
    keepAliveMaxTimeout: idleConnectionMs,
    clientTtl: connectionLifeMs,
  });
  return {
    send: (outgoing, signal) => attempt(agent, outgoing, limits, signal),
    close: () => agent.destroy(),
  };
}

async function attempt(
  agent: Agent,
  outgoing: OutgoingRequest,
  limits: SendLimits,
  cut?: AbortSignal,
): Promise<Sent> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const record: AddressRecord = { address: null };
  const inTime = AbortSignal.timeout(limits.totalTimeout);
  const signal = cut ? AbortSignal.any([inTime, cut]) : inTime;
  try {
    const answer = await request(outgoing.url, {
      dispatcher: agent,
      method: 'POST',
      headers: outgoing.headers,
      body: outgoing.body,
      signal,
      ...{ record },
    });
    const detail = await readHead(answer.body, limits);
    return { result: answerResult(answer), detail, milliseconds: elapsed(), ...record };
  } catch (error) {
    const reason = reasonOf(error);
    return {
      result: { kind: 'failure', reason },
      detail: printable(describe(error), limits.answerHead),
      milliseconds: elapsed(),
      ...record,
    };
  }
}

function answerResult(answer: Dispatcher.ResponseData): AttemptResult {
  const header = (name: string): string | undefined => [answer.headers[name]].flat()[0];
  return {
    kind: 'answer',
    status: answer.statusCode,
    retryAfterSeconds: readRetryAfter(header('retry-after'), Date.now()),
    instruction: readInstruction(header('webhook-delivery')),
  };
}

/**
 * Reads the beginning of a body. A body that breaks off, hangs or never ends changes nothing
 * about the status that came before it, so this never throws.
 */
async function readHead(body: AsyncIterable<Buffer>, limits: SendLimits): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // Leaving the loop early destroys the body and with it the connection.
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limits.answerBytes) break;
    }
  } catch {
    // The part that has been read until now is all there is to show.
  }
  return printable(Buffer.concat(chunks).toString('utf8'), limits.answerHead);
}

/** Postgres stores no null characters. */
const printable = (text: string, length: number): string =>
  text.replaceAll('\0', '').slice(0, length).toWellFormed();

const codeOf = (error: unknown): string => {
  const code = error instanceof Error ? (error as Error & { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
};

const timeOutCodes = [
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
];
const nameCodes = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME'];
const tlsCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO)/;

function reasonOf(error: unknown): FailureReason {
  const code = codeOf(error);
  if (error instanceof RequestCut) return 'cut_off';
  if (error instanceof Error && error.name === 'TimeoutError') return 'time_out';
  if (timeOutCodes.includes(code)) return 'time_out';
  if (code === 'BLOCKED_ADDRESS') return 'blocked_address';
  if (nameCodes.includes(code)) return 'name';
  return tlsCode.test(code) ? 'tls' : 'connection';
}

const describe = (error: unknown): string => {
  // With several addresses tried, the message is empty and the errors of the parts tell the reason.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(String).join('; ');
  }
  return error instanceof Error ? error.message : String(error);
};
