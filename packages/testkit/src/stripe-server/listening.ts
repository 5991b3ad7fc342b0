import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StripeServer } from './server.ts';

/** A Stripe that listens on the loopback. It is read when it is asked for the first time: few tests ask it. */
export interface ListeningStripe {
  readonly url: string;
  /** The server behind the address. */
  readonly server: () => Promise<StripeServer>;
  readonly close: () => Promise<void>;
}

/** Starts a server in the place of Stripe. */
export async function listeningStripe(): Promise<ListeningStripe> {
  let made: Promise<StripeServer> | undefined;
  const server = (): Promise<StripeServer> => {
    made ??= import('./server.ts').then(({ StripeServer: Server }) => new Server());
    return made;
  };
  const http = createServer((request, response) => {
    server().then(
      (stripe) => stripe.serve(request, response),
      () => response.destroy(),
    );
  });
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    server,
    close: async () => {
      http.closeAllConnections();
      await new Promise((done) => http.close(done));
    },
  };
}
