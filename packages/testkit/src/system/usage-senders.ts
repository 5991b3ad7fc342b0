import { type NatsConnection, headers as newHeaders } from 'nats';

/** The answer of the API when it issues credentials to send usage. */
export interface UsageCredentials {
  readonly id: string;
  readonly subject: string;
  readonly urls: readonly string[];
  readonly credentials: string;
}

/** The answer to a message, as a system outside reads it. */
export interface SentAnswer {
  readonly status: number;
  readonly position?: string;
  readonly retry_after?: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any body.
  readonly body: any;
}

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** The time that an answer may take. */
  readonly milliseconds?: number;
}

/** Asks as the plain client does, and gives the answer. Throws when none comes in time. */
export async function sendUsage(
  connection: NatsConnection,
  { subject }: Pick<UsageCredentials, 'subject'>,
  body: unknown,
  { headers = {}, milliseconds = 30_000 }: SendOptions = {},
): Promise<SentAnswer> {
  const given = newHeaders();
  for (const [name, value] of Object.entries(headers)) given.set(name, value);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await connection.request(subject, text, { timeout: milliseconds, headers: given });
  return answer.json<SentAnswer>();
}
