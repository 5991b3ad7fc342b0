import { LRUCache } from 'lru-cache';
import type { OwnedPlace } from '../decide/ownership.ts';
import type { Call } from './carry-out.ts';
import { carriedFrom, type HandedAnswer, type HandedRequest, sized } from './handed-request.ts';
import type { Elsewhere } from './host.ts';

/** The way of requests to other processes, with the streams that they turned out to be about. */
export interface Passage {
  /** The place of a request like one before, if that stream belongs elsewhere; null when it may be decided here. */
  placeOf(call: Call): OwnedPlace | null;
  /** Hands a request over. Null when no answer came in time. */
  handOver(place: OwnedPlace, call: Call, baggage: Baggage): Promise<HandedAnswer | null>;
}

/** The things that a request takes along. */
interface Baggage {
  /** Its body as it came; null for none. */
  readonly text: string | null;
  /** A key that was made for it. */
  readonly key: string;
  /** The instant of `performance.now()` at which it came. */
  readonly startedAt: number;
}

/** Operations whose stream is remembered; the others are begun here before they are handed over. */
const operationsMaximum = 10_000;

export function createPassage(elsewhere: Elsewhere): Passage {
  const streams = new LRUCache<string, string>({ max: operationsMaximum });
  /** Requests to one path are about one stream, as far as they name a record. */
  const nameOf = ({ endpoint, params, caller }: Call): string | null =>
    endpoint.placeholders.length === 0
      ? null
      : `${caller.environmentId} ${endpoint.operation(params)}`;
  return {
    placeOf: (call) => {
      if (streams.size === 0) return null;
      const name = nameOf(call);
      const stream = name === null ? undefined : streams.get(name);
      if (stream === undefined) return null;
      const owner = elsewhere.ownerElsewhere(stream);
      return owner === null ? null : { stream, owner };
    },
    handOver: async (place, call, { text, key, startedAt }) => {
      const { stream } = place;
      const name = nameOf(call);
      if (name !== null) streams.set(name, stream);
      const { tenantId, environmentId, keyId } = call.caller;
      const handed: HandedRequest = {
        route: call.endpoint.key,
        params: call.params,
        url: call.url,
        body: text,
        headers: carriedFrom(call.headers),
        requestId: call.requestId,
        receivedAt: call.receivedAt,
        caller: { tenantId, environmentId, keyId },
        madeKey: { key, remembersRefusals: false },
      };
      const answer = await elsewhere.handOver(place, sized(handed, text), startedAt);
      const position = answer?.position ?? null;
      if (position !== null) await elsewhere.written(call.caller, stream, BigInt(position));
      return answer;
    },
  };
}
