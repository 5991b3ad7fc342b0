import {
  type Elsewhere,
  type HandedAnswer,
  type HandedRequest,
  type Handover,
  type HealthCheck,
  type HttpServer,
  joinMembers,
  type Metrics,
  type Nats,
  parseStreamName,
  type RecentWrites,
} from '@counterfoil/engine';
import type { Authentication } from './authentication.ts';

/** The parts of this process that requests from elsewhere are carried out with. */
interface OwnParts {
  readonly server: Pick<HttpServer, 'carryOut'>;
  readonly authentication: Pick<Authentication, 'principalOf' | 'takenOver'>;
}

interface OwnReads extends Pick<OwnParts, 'authentication'> {
  readonly recentWrites: RecentWrites;
  /** The system's time in milliseconds. */
  readonly now: () => number;
}

/** The processes of the API of which this is one. */
export interface ApiMembers {
  readonly ownership: Handover<HandedRequest, HandedAnswer>;
  /** The others are told of this process, and their requests carried out, from now on. */
  open(parts: OwnParts): void;
  /** The way of requests to the others. */
  elsewhere(parts: OwnReads): Elsewhere;
  readonly health: HealthCheck;
}

interface MembersOptions {
  readonly nats: Nats;
  readonly secret: Uint8Array;
  readonly metrics: Metrics;
}

/** Joins the processes of the API that are connected to the same broker. */
export function joinApi(options: MembersOptions): ApiMembers {
  const ownership = joinMembers<HandedRequest, HandedAnswer>(options);
  return {
    ownership,
    open: ({ authentication, server }) =>
      ownership.open(async (request) => {
        try {
          const caller = authentication.principalOf(request.caller);
          return caller && (await server.carryOut(request, caller));
        } catch {
          // Whatever keeps this process from it, the one that asks can do it for itself.
          return null;
        }
      }),
    elsewhere: ({ authentication, recentWrites, now }) => ({
      ownerElsewhere: (stream) => ownership.ownerElsewhere(stream),
      handOver: (place, request, startedAt) => ownership.handOver(place, request, startedAt),
      written: async ({ keyId }, stream, position) => {
        recentWrites.noteElsewhere(keyId, position, now());
        await authentication.takenOver(parseStreamName(stream)?.category ?? '', position);
      },
    }),
    health: {
      name: 'members',
      required: false,
      check: async () => ownership.check(),
      details: () => ({ members: ownership.members().map(({ name }) => name) }),
    },
  };
}
