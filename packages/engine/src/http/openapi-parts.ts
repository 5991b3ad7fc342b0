import { recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import type { ZodOpenApiObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { searchFilterSchema, searchSortSchema } from '../define/listing.ts';
import { problemSchema } from './problem-body.ts';
import {
  idempotencyKeyLimit,
  ifMatchLimit,
  ifMatchText,
  positionText,
  visibleAscii,
} from './request-headers.ts';

const header = (description: string) => ({ description, schema: { type: 'string' as const } });

const responseHeaders = {
  'X-Request-Id': header('Id of the request: the one sent, or a new one'),
  Location: header('Path at which the record that was made is read'),
  RateLimit: header('What is left of the limit of this API key, and until when'),
  'RateLimit-Policy': header('The limit of this API key'),
  'Retry-After': header('Seconds after which a repetition makes sense'),
} as const;

type ResponseHeader = keyof typeof responseHeaders;

/** References to response headers, by name. */
export const headerReferences = (names: readonly ResponseHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** A header of requests. Without a limit only that of all headers together holds. */
const parameter = (name: string, description: string, limit?: number, pattern?: RegExp) => ({
  name,
  in: 'header' as const,
  required: false,
  description,
  schema: {
    type: 'string' as const,
    ...(limit && { maxLength: limit }),
    ...(pattern && { pattern: pattern.source }),
  },
});

const requestHeaders = {
  IdempotencyKey: parameter(
    'Idempotency-Key',
    'Makes the request safe to repeat: the same key and the same body give the first outcome, for ever, with `Idempotency-Replayed: true`. 1 to 255 visible ASCII characters.',
    idempotencyKeyLimit,
    visibleAscii,
  ),
  IfMatch: parameter(
    'If-Match',
    'The ETag that the record must still have; 412 when it has another.',
    ifMatchLimit,
    ifMatchText,
  ),
  MinimumPosition: parameter(
    'Counterfoil-Min-Position',
    'A Counterfoil-Position that the answer must include; 503 when that takes too long, 400 when the log ends before it.',
    20,
    positionText,
  ),
  WebhookId: parameter('webhook-id', 'Id of the event, the same at every attempt.', 64),
  WebhookTimestamp: parameter('webhook-timestamp', 'When it is sent, in Unix seconds.', 20),
  WebhookSignature: parameter(
    'webhook-signature',
    'Signatures of id, timestamp and body by Standard Webhooks.',
    4096,
  ),
} as const;

/** References to request headers, by name. */
export const parameterReferences = (names: readonly (keyof typeof requestHeaders)[]) =>
  names.map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** The parts that operations refer to. */
export const sharedComponents = (
  failures: Record<string, ZodOpenApiResponseObject>,
): NonNullable<ZodOpenApiObject['components']> => ({
  schemas: {
    Problem: problemSchema,
    RecordStamps: z.object({ ...recordStampsShape, status: recordStatusSchema }),
    SearchFilter: searchFilterSchema,
    SearchSort: searchSortSchema,
  },
  parameters: requestHeaders,
  headers: responseHeaders,
  responses: {
    Received: { description: 'Received. Any other answer is a failure and is tried again' },
    ...failures,
  },
  securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' } },
});
