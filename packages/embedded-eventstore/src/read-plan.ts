/** Turns a read request into a plan, or into the reason why it cannot be served. */
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { compileFilter, type Filter } from './filter.ts';
import { type CallStatus, invalidArgument, unknownError } from './status.ts';
import { requestedStream, streamNameProblem } from './stream-name.ts';

/** A counted read of one stream. */
export interface StreamRead {
  readonly kind: 'stream-read';
  readonly streamName: string;
  readonly backwards: boolean;
  /** First revision to deliver; infinity stands for the end. */
  readonly from: number;
  readonly count: number;
  readonly resolveLinks: boolean;
}

/** A counted read of `$all`. */
export interface AllRead {
  readonly kind: 'all-read';
  readonly backwards: boolean;
  /** Forwards the first position to deliver, backwards the one before which to start. */
  readonly from: number;
  readonly count: number;
  readonly filter: Filter | undefined;
  readonly resolveLinks: boolean;
}

/** A subscription to one stream. */
export interface StreamSubscription {
  readonly kind: 'stream-subscription';
  readonly streamName: string;
  /** First revision to deliver; infinity stands for events that are yet to come. */
  readonly from: number;
  readonly resolveLinks: boolean;
}

/** A subscription to `$all`. */
export interface AllSubscription {
  readonly kind: 'all-subscription';
  /** First position to deliver; infinity stands for events that are yet to come. */
  readonly from: number;
  readonly filter: Filter | undefined;
  readonly resolveLinks: boolean;
}

/** A read or a subscription that can be served. */
export type ReadPlan = StreamRead | AllRead | StreamSubscription | AllSubscription;

/** A request that cannot be served; carries the status to answer. */
export class InvalidReadError extends Error {
  override readonly name = 'InvalidReadError';
  readonly status: CallStatus;

  constructor(status: CallStatus) {
    super(status.details);
    this.status = status;
  }
}

const END_OF_UINT64 = 2n ** 64n - 1n;
const LARGEST_INT64 = 2n ** 63n - 1n;

const refuse = (problem: string): InvalidReadError =>
  new InvalidReadError(invalidArgument(problem));

/** Reads the request; throws `InvalidReadError`. */
export function planRead(request: ReadReq): ReadPlan {
  const options = request.getOptions();
  if (options === undefined) throw refuse('the request has no options');
  if (options.getUuidOption() === undefined) throw refuse('the request has no uuid option');
  if (!options.hasFilter() && !options.hasNoFilter()) throw refuse('no filter option was given');
  const backwards = options.getReadDirection() === 1;
  const subscription = options.hasSubscription();
  if (!subscription && !options.hasCount())
    throw refuse('neither count nor subscription was given');
  if (subscription && backwards) throw refuse('a subscription cannot run backwards');
  const count = subscription ? 0 : Number(options.getCount());
  if (!subscription && count === 0) {
    throw new InvalidReadError(unknownError('maxCount should be positive'));
  }
  const resolveLinks = options.getResolveLinks();

  const stream = options.getStream();
  if (stream !== undefined) {
    if (options.hasFilter()) throw refuse('a filter applies to $all only');
    const streamName = streamNameIn(stream);
    const from = revisionIn(stream, backwards);
    return subscription
      ? {
          kind: 'stream-subscription',
          streamName,
          from: after(from, stream.hasRevision()),
          resolveLinks,
        }
      : { kind: 'stream-read', streamName, backwards, from, count, resolveLinks };
  }
  const all = options.getAll();
  if (all === undefined) throw refuse('neither stream nor $all was given');
  const filter = filterIn(options);
  return subscription
    ? { kind: 'all-subscription', from: positionIn(all, 'after'), filter, resolveLinks }
    : {
        kind: 'all-read',
        backwards,
        from: positionIn(all, backwards ? 'before' : 'from'),
        count,
        filter,
        resolveLinks,
      };
}

// A subscription starts behind the revision that the client has already seen.
function after(from: number, exact: boolean): number {
  return exact ? from + 1 : from;
}

function streamNameIn(stream: ReadReq.Options.StreamOptions): string {
  const streamName = requestedStream(stream);
  const problem = streamNameProblem(streamName);
  if (problem !== undefined) throw refuse(problem);
  return streamName;
}

function filterIn(options: ReadReq.Options): Filter | undefined {
  const requested = options.getFilter();
  if (requested === undefined) return undefined;
  const filter = compileFilter(requested);
  if ('problem' in filter) throw refuse(filter.problem);
  return filter;
}

function revisionIn(stream: ReadReq.Options.StreamOptions, backwards: boolean): number {
  if (stream.hasEnd()) return Number.POSITIVE_INFINITY;
  if (stream.hasStart()) return 0;
  if (!stream.hasRevision()) throw refuse('no revision was given');
  const revision = BigInt(stream.getRevision());
  if (revision === END_OF_UINT64) return Number.POSITIVE_INFINITY;
  if (revision > LARGEST_INT64) throw refuse(`${revision} is not a revision`);
  return backwards && revision > BigInt(Number.MAX_SAFE_INTEGER)
    ? Number.POSITIVE_INFINITY
    : Number(revision);
}

type Bound = 'from' | 'before' | 'after';

/**
 * Events of this store have commit = prepare, but a client may ask for a pair in which they
 * differ. Pairs are ordered by commit, then prepare.
 */
function positionIn(all: ReadReq.Options.AllOptions, bound: Bound): number {
  if (all.hasEnd()) return Number.POSITIVE_INFINITY;
  if (all.hasStart()) return 0;
  const position = all.getPosition();
  if (position === undefined) throw refuse('no position was given');
  const commit = BigInt(position.getCommitPosition());
  const prepare = BigInt(position.getPreparePosition());
  if (commit === END_OF_UINT64) return Number.POSITIVE_INFINITY;
  const next = Number(commit) + 1;
  if (bound === 'after') return prepare < commit ? Number(commit) : next;
  return prepare > commit ? next : Number(commit);
}
