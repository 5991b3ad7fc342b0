import { recordStampsShape, recordStatusSchema } from '@counterfoil/kernel';
import { z } from 'zod';
import type { ZodOpenApiObject, ZodOpenApiResponseObject } from 'zod-openapi';
import { searchFilterSchema, searchSortSchema } from '../define/listing.ts';
import { problemSchema } from './problem-body.ts';
import { idempotencyKeyLimit, ifMatchLimit, ifMatchText, visibleAscii } from './request-headers.ts';

const header = (description: string) => ({ description, schema: { type: 'string' as const } });

const responseHeaders = {
  Location: header('Path at which the record that was made is read'),
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
    'The same key and the same body give the first outcome, for ever, with `Idempotency-Replayed: true`.',
    idempotencyKeyLimit,
    visibleAscii,
  ),
  IfMatch: parameter(
    'If-Match',
    'The ETag that the record must still have; 412 when it has another.',
    ifMatchLimit,
    ifMatchText,
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

/** The stamps of records that are in no environment. */
const { environment_id: _, ...ofTenant } = recordStampsShape;

/** The parts that operations refer to. */
export const sharedComponents = (
  failures: Record<string, ZodOpenApiResponseObject>,
): NonNullable<ZodOpenApiObject['components']> => ({
  schemas: {
    Problem: problemSchema,
    TenantStamps: z.object({ ...ofTenant, status: recordStatusSchema }),
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
