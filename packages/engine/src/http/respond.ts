import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { BrokenInvariant, invariant, type Problem } from '@counterfoil/kernel';
import type { Request, Response } from 'express';
import { Content, ContentStream, WithETag } from '../define/route.ts';
import type { Rendered, RunMarks } from './answer.ts';
import { type Coding, codingFor, compressed } from './compression.ts';
import type { Endpoint } from './endpoint.ts';
import { type Exchange, exchangeOf } from './exchange.ts';
import { problemBody } from './problem-body.ts';
import { noneMatch } from './request-headers.ts';
import { checkResponse } from './response-check.ts';

/** Sends a value as JSON, in one piece. */
export const sendJson = (response: Response, status: number, body: unknown): void =>
  sendText(response, status, JSON.stringify(body));

/** Sends a text in one piece, as it is or compressed. The content type of JSON has no parameter. */
function sendText(
  response: Response,
  status: number,
  text: string | Uint8Array,
  type = 'application/json',
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', type);
  // For every method but HEAD, Node counts by itself.
  if (response.req.method === 'HEAD') response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Sends a status without a body. */
export function sendNothing(response: Response, status: number): void {
  response.statusCode = status;
  response.end();
}

/** Sets the headers with the position of the outcome in the log and with whether it is a repetition. */
function setRunHeaders(response: Response, run: RunMarks): void {
  if (run.position !== null) response.setHeader('Counterfoil-Position', String(run.position));
  if (run.replayed) response.setHeader('Idempotency-Replayed', 'true');
  if (run.lagMilliseconds !== null) {
    response.setHeader('Counterfoil-Lag-Ms', String(Math.max(0, Math.round(run.lagMilliseconds))));
  }
}

/** Renders the result of a handler. Throws `BrokenInvariant` when it is not what the route declares. */
export function rendered(
  { key, route, checkedResponse, locationOf }: Endpoint,
  params: Readonly<Record<string, string>>,
  result: unknown,
): Rendered {
  if (result instanceof Content || result instanceof ContentStream) {
    invariant(route.contents?.includes(result.mediaType), `${key} answers no ${result.mediaType}`);
    return { text: null, content: result, revision: null, location: null };
  }
  const body = result instanceof WithETag ? result.body : result;
  if ((route.response === undefined) !== (body === undefined)) {
    throw new BrokenInvariant(`${key} answered ${body === undefined ? 'no' : 'a'} body`);
  }
  if (checkedResponse) checkResponse(key, checkedResponse, body);
  if (body === undefined) return { text: null, revision: null, location: null };
  return {
    text: JSON.stringify(body),
    revision: result instanceof WithETag ? result.revision : null,
    location: locationOf(params, body),
  };
}

/**
 * Sends a rendered result, unless the request has been answered meanwhile because its time was up.
 * A large one is compressed for callers who take that.
 */
export async function sendResult(
  request: Request,
  response: Response,
  { method, route }: Endpoint,
  marks: RunMarks,
  { text: json, content, revision, location }: Rendered,
): Promise<void> {
  if (response.headersSent || response.destroyed) return;
  if (content instanceof ContentStream) {
    setRunHeaders(response, marks);
    setContentHeaders(response, content);
    await sendPieces(response, route.status, content);
    return;
  }
  const text = content?.bytes ?? json;
  if (text === null) {
    setRunHeaders(response, marks);
    sendNothing(response, route.status);
    return;
  }
  // The parts of a PDF are compressed already.
  const isPacked = content?.mediaType === 'application/pdf';
  const coding = isPacked ? null : codingFor(request, response, text.length);
  const tag = entityTag(text, revision, coding);
  const isKnown = method === 'GET' && noneMatch(request.headers['if-none-match'], tag);
  const bytes = coding && !isKnown ? await compressed(text, coding) : null;
  if (response.headersSent || response.destroyed) return;
  setRunHeaders(response, marks);
  if (location !== null) response.setHeader('Location', location);
  response.setHeader('ETag', tag);
  // A cache may keep it for this caller, but must ask whether it is still current.
  if (method === 'GET') response.setHeader('Cache-Control', 'private, no-cache');
  if (isKnown) return sendNothing(response, 304);
  if (coding) response.setHeader('Content-Encoding', coding);
  if (content) setContentHeaders(response, content);
  sendText(response, route.status, bytes ?? text, content?.mediaType);
}

/** A page may have styles of its own, and nothing else: no script, no picture, nothing from elsewhere. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** Sends pieces as fast as they are taken. A failure on the way cuts the connection: the status is out already. */
async function sendPieces(
  response: Response,
  status: number,
  { mediaType, pieces }: ContentStream,
): Promise<void> {
  response.statusCode = status;
  response.setHeader('Content-Type', mediaType);
  const { deadline } = exchangeOf(response);
  const sent = async function* () {
    for await (const piece of pieces) {
      deadline?.refresh();
      yield piece;
    }
  };
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  // A caller who went away, or a failure that is cut off, has had its answer.
  await pipeline(Readable.from(sent()), response).catch((error: Error) => response.destroy(error));
}

function setContentHeaders(
  response: Response,
  { mediaType, fileName }: Pick<Content, 'mediaType' | 'fileName'>,
): void {
  const plainName = fileName.replaceAll(/[^A-Za-z0-9._-]+/g, '_').slice(0, 120);
  response.setHeader('Content-Disposition', `inline; filename="${plainName}"`);
  if (mediaType.startsWith('text/html')) {
    response.setHeader('Content-Security-Policy', pagePolicy);
  }
}

/**
 * The ETag of an answer (D39): the revision of the record, if it shows one, and a digest of the whole body,
 * because records inside it change without the one around them. Other bytes have another tag.
 */
function entityTag(
  text: string | Uint8Array,
  revision: number | null,
  coding: Coding | null,
): string {
  const digest = hash('sha1', text, 'base64url').slice(0, 16);
  const coded = coding === null ? digest : `${digest}.${coding}`;
  return revision === null ? `"${coded}"` : `"${revision}-${coded}"`;
}

const defaultRetryAfterSeconds = 1;

/** Sends a failure in the one shape. Does nothing when the answer is already under way. */
export function sendProblem(response: Response, problem: Problem): void {
  const exchange: Exchange = exchangeOf(response);
  exchange.failure ??= problem.code;
  if (response.headersSent || response.destroyed) return;
  if (exchange.run) setRunHeaders(response, exchange.run);
  const { status } = problem;
  if (status === 401) response.setHeader('WWW-Authenticate', 'ApiKey header="x-api-key"');
  if (status === 503 || status === 429) {
    const seconds = Math.ceil(problem.retryAfterSeconds ?? defaultRetryAfterSeconds);
    response.setHeader('Retry-After', String(Math.max(1, seconds)));
  }
  sendJson(response, status, problemBody(problem, exchange.requestId));
}
