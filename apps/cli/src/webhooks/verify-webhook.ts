/**
 * Checks that a webhook is genuine and not a replay (Standard Webhooks 1.0). One file that needs
 * nothing but Node: copy it.
 *
 *     const event = verifyWebhook(rawBody, request.headers, [process.env.WEBHOOK_SECRET]);
 *
 * Give it the bytes of the body as they arrived. A body that has been parsed and written again is another
 * text, and its signature does not fit.
 */
import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';

/** Seconds by which the time of an attempt may differ from our clock. */
const toleranceSeconds = 300;
/** More signatures than anybody needs while secrets are exchanged. */
const signaturesMaximum = 16;

export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The content of a genuine webhook. */
export interface VerifiedWebhook {
  /**
   * The same at every attempt: remember it to tell an event that comes twice from one that happened twice.
   * Ids of one resource sort in the order in which its events happened.
   */
  readonly id: string;
  /** The id of the record that the event is about. */
  readonly resource: string;
  /** The place of the event among those of its resource: a later one has a greater number. */
  readonly sequence: number;
  /** The time of this attempt, in seconds since 1970. */
  readonly timestamp: number;
  readonly event: { readonly event_type: string } & Readonly<Record<string, unknown>>;
}

/** The webhook is not from its alleged sender, is too old, or is damaged. Answer 401. */
export class WebhookRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WebhookRefused';
  }
}

export interface VerifyOptions {
  /** Milliseconds since 1970; the clock unless given. */
  readonly now?: number;
  readonly toleranceSeconds?: number;
}

/**
 * Checks a webhook and returns its content.
 *
 * @param body the bytes as they came in
 * @param headers the headers, with names in lower case as Node gives them
 * @param keys secrets (`whsec_…`) or public keys (`whpk_…`): one must fit. Give the former one too
 *   while a secret is exchanged
 * @throws WebhookRefused when no key fits, or the attempt is too old or too far ahead
 */
export function verifyWebhook(
  body: Uint8Array,
  headers: WebhookHeaders,
  keys: readonly string[],
  options: VerifyOptions = {},
): VerifiedWebhook {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = timestampOf(headers, options);
  const signatures = headerOf(headers, 'webhook-signature').split(' ').slice(0, signaturesMaximum);
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const isGenuine = keys.some((key) => {
    const fits = checkerOf(key, signed);
    return signatures.some(fits);
  });
  if (!isGenuine) throw new WebhookRefused('No signature fits any of the keys.');
  const resource = headerOf(headers, 'webhook-resource');
  return { id, resource, sequence: sequenceOf(headers), timestamp, event: eventOf(body) };
}

function sequenceOf(headers: WebhookHeaders): number {
  const text = headerOf(headers, 'webhook-sequence');
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new WebhookRefused('The header webhook-sequence is no number.');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') {
    throw new WebhookRefused(`The header ${name} is missing.`);
  }
  return value;
}

/** The time of the attempt, which is signed: a repeated old request cannot look like a new one. */
function timestampOf(headers: WebhookHeaders, options: VerifyOptions): number {
  const text = headerOf(headers, 'webhook-timestamp');
  const { now = Date.now(), toleranceSeconds: tolerance = toleranceSeconds } = options;
  if (!/^\d{1,12}$/.test(text))
    throw new WebhookRefused('The header webhook-timestamp is no time.');
  const timestamp = Number(text);
  if (Math.abs(now / 1_000 - timestamp) > tolerance) {
    throw new WebhookRefused('The attempt is too old, or a clock is wrong.');
  }
  return timestamp;
}

/** Checks whether one entry of `webhook-signature` fits the signed text. */
function checkerOf(key: string, signed: Buffer): (signature: string) => boolean {
  if (key.startsWith('whpk_')) {
    const publicKey = publicKeyOf(key);
    return (signature) => {
      const given = bytesOf(signature, 'v1a,');
      return given !== null && verify(null, signed, publicKey, given);
    };
  }
  const secret = Buffer.from(key.replace(/^whsec_/, ''), 'base64');
  if (secret.length === 0) throw new TypeError('A key must be "whsec_…" or "whpk_…".');
  const expected = createHmac('sha256', secret).update(signed).digest();
  return (signature) => {
    const given = bytesOf(signature, 'v1,');
    // Compared in constant time, so that the time taken tells nothing about the right signature.
    return given?.length === expected.length && timingSafeEqual(given, expected);
  };
}

const bytesOf = (signature: string, version: string): Buffer | null =>
  signature.startsWith(version) ? Buffer.from(signature.slice(version.length), 'base64') : null;

/** The bytes of DER before the 32 of a public Ed25519 key (RFC 8410). */
const publicKeyHead = Buffer.from('302a300506032b6570032100', 'hex');

function publicKeyOf(key: string): KeyObject {
  const bytes = Buffer.from(key.slice('whpk_'.length), 'base64');
  if (bytes.length !== 32) throw new TypeError('A public key must have 32 bytes.');
  const der = Buffer.concat([publicKeyHead, bytes]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function eventOf(body: Uint8Array): VerifiedWebhook['event'] {
  let event: unknown;
  try {
    event = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    throw new WebhookRefused('The body is no JSON.');
  }
  if (typeof event !== 'object' || event === null || !('event_type' in event)) {
    throw new WebhookRefused('The body is no event.');
  }
  return event as VerifiedWebhook['event'];
}
