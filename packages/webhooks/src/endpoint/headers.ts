import { z } from 'zod';

/**
 * Headers that belong to HTTP itself or to the delivery. An endpoint that set them could break
 * the framing of requests or pass off a signature as ours.
 */
const reservedHeaders = [
  'host',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'user-agent',
];
const reservedPrefixes = ['content-', 'proxy-', 'sec-', 'webhook-'];

const isReserved = (name: string): boolean =>
  reservedHeaders.includes(name) || reservedPrefixes.some((prefix) => name.startsWith(prefix));

const maximumHeaders = 20;

const nameSchema = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be a header name')
  .refine((name) => !isReserved(name.toLowerCase()), 'is a header that only the service sets');

const valueSchema = z
  .string()
  .max(1024)
  .regex(/^[\x20-\x7e]*$/, 'must consist of printable ASCII characters');

/** Headers that an endpoint wants with every delivery, such as an authorization of its own. */
export const headersSchema = z
  .record(nameSchema, valueSchema)
  .refine(
    (headers) => Object.keys(headers).length <= maximumHeaders,
    `must have at most ${maximumHeaders} headers`,
  )
  .refine((headers) => {
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    return new Set(names).size === names.length;
  }, 'must not name a header twice')
  .meta({ description: 'Sent with every delivery; values are encrypted and never shown' });

export type EndpointHeaders = z.output<typeof headersSchema>;
