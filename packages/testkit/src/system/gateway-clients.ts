import { type ConnectionOptions, connect, credsAuthenticator, type NatsConnection } from 'nats';

/** The answer of the API when it issues credentials. */
export interface IssuedCredentials {
  readonly urls: readonly string[];
  readonly stream: string;
  readonly consumer: string;
  readonly live_subject: string;
  readonly credentials: string;
  readonly generation: number;
  readonly expires_at?: string;
}

/** Connects as a downstream system does, with nothing but the answer of the API. */
export const connectWith = (
  { urls, credentials }: Pick<IssuedCredentials, 'urls' | 'credentials'>,
  options: ConnectionOptions = {},
): Promise<NatsConnection> =>
  connect({
    servers: urls.map((url) => new URL(url).host),
    authenticator: credsAuthenticator(new TextEncoder().encode(credentials)),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
    ignoreClusterUpdates: true,
    ...options,
  });

/** Returns what a client is told when it connects with these; `connected` when it is let in. */
export async function refusalOf(issued: Pick<IssuedCredentials, 'urls' | 'credentials'>) {
  try {
    // A client that would try again and again is told nothing until its time is over.
    const connection = await connectWith(issued, { reconnect: false });
    await connection.close();
    return 'connected';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A message that the API has about a customer. */
export interface CustomerEvent {
  readonly event_type: string;
  readonly customer: { readonly name: string };
}

/** A request for messages that a killed server took along is missed after this time, and made again. */
const pulls = { max_messages: 10, expires: 4_000 };

/** Takes and confirms so many messages, as the client's own interface for that does. */
export async function takeNames(
  connection: NatsConnection,
  { stream, consumer }: Pick<IssuedCredentials, 'stream' | 'consumer'>,
  count: number,
): Promise<readonly string[]> {
  const reader = await connection.jetstream({ checkAPI: false }).consumers.get(stream, consumer);
  const names: string[] = [];
  for await (const message of await reader.consume(pulls)) {
    names.push(message.json<CustomerEvent>().customer.name);
    await message.ackAck();
    if (names.length === count) break;
  }
  // The server has taken back the request for more before anything else happens.
  await connection.flush();
  return names;
}
