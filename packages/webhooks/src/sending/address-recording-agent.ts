import { Agent, type buildConnector, Client, type Dispatcher, Pool } from 'undici';

/** A request with room for the address that it is sent to. */
export interface AddressRecord {
  /** Set when there is a connection; null before that. */
  address: string | null;
}

/** A member of undici's options of a request, which it hands through as it is. */
interface RecordedOptions extends Dispatcher.DispatchOptions {
  readonly record?: AddressRecord;
}

/** The options of undici's agent; the connector has to be given. */
export interface AddressRecordingOptions extends Omit<Agent.Options, 'connect' | 'factory'> {
  readonly connect: buildConnector.connector;
}

/**
 * An agent that tells, for each request with a `record`, which address it was sent to. A name stands
 * for several addresses, and connections are used again, so nobody but the connection knows.
 */
export function addressRecordingAgent({ connect, ...options }: AddressRecordingOptions): Agent {
  return new Agent({
    ...options,
    connect,
    factory: (origin, poolOptions) =>
      new Pool(origin, {
        ...(poolOptions as Pool.Options),
        factory: (target, clientOptions) =>
          addressRecordingClient(target, clientOptions as Client.Options, connect),
      }),
  });
}

/** One connection, which makes one request at a time. */
function addressRecordingClient(
  origin: URL,
  options: Client.Options,
  connect: buildConnector.connector,
): Client {
  let address: string | null = null;
  let current: AddressRecord | null = null;
  const recorded = (reached: string | null): void => {
    address = reached;
    if (current) current.address = reached;
  };
  const client = new Client(origin, {
    ...options,
    connect: (target: buildConnector.Options, callback: buildConnector.Callback) =>
      connect(target, (...outcome) => {
        const [, socket] = outcome;
        recorded(socket?.remoteAddress ?? null);
        callback(...outcome);
      }),
  });
  client.on('disconnect', () => {
    address = null;
  });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request: RecordedOptions, handler) => {
    current = request.record ?? null;
    if (current) current.address = address;
    return dispatch(request, handler);
  };
  return client;
}
