/** The Read call, which serves counted reads and subscriptions alike. */
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { OpenCalls } from './open-calls.ts';
import type { FramedMessages } from './outlet.ts';
import { createOutlet, type Outlet } from './outlet.ts';
import { readAll, readStream } from './read.ts';
import { InvalidReadError, planRead, type ReadPlan } from './read-plan.ts';
import { statusOfError } from './status.ts';
import type { EventStore } from './store.ts';
import { type SubscriptionTerms, subscribeToAll, subscribeToStream } from './subscription.ts';

/** Creates the handler of `Streams/Read`. */
export function createReadHandler(
  store: EventStore,
  calls: OpenCalls,
  terms: SubscriptionTerms = {},
) {
  return (call: ServerWritableStream<ReadReq, FramedMessages>): void => {
    const outlet = createOutlet(call);
    if (!calls.admit(outlet)) return;
    serve(store, call.request, outlet, terms).catch((error: unknown) => {
      outlet.fail(error instanceof InvalidReadError ? error.status : statusOfError(error));
    });
  };
}

async function serve(
  store: EventStore,
  request: ReadReq,
  outlet: Outlet,
  terms: SubscriptionTerms,
): Promise<void> {
  const plan: ReadPlan = planRead(request);
  switch (plan.kind) {
    case 'stream-read':
      return readStream(store, plan, outlet);
    case 'all-read':
      return readAll(store, plan, outlet);
    case 'stream-subscription':
      return subscribeToStream(store, plan, outlet);
    case 'all-subscription':
      return subscribeToAll(store, plan, outlet, terms);
  }
}
