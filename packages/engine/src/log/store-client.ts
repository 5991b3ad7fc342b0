/**
 * The official client of the event store, `@eventstore/db-client` 6.2.1. No other file of the
 * engine but tests may import it: it hangs, leaks and ends the process in ways that this file and its
 * helpers deal with, and a switch to its successor must concern this file alone. It needs a server of
 * version 23.10 or later, which says when a subscription has caught up.
 *
 * Reads and appends use the client's connection, and the client decides when to reconnect; their messages
 * are coded by `read-message.ts` and `append-message.ts`.
 */
import type { Duplex, Readable } from 'node:stream';
import { convertToCommandError, EventStoreDBClient } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import sharedMessages from '@eventstore/db-client/generated/shared_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamMessages from '@eventstore/db-client/generated/streams_pb.js';
import { within } from '../operations/health.ts';
import { createAppendCall } from './append-call.ts';
import type { AppendClient } from './appender.ts';
import type { OpenCall } from './call-batches.ts';
import { type ChoosingChannel, groupIncoming, messagesIn } from './incoming-group.ts';
import type { ReadClient } from './log-reader.ts';
import type { MessageGroup } from './message-group.ts';
import { pairOf } from './position.ts';
import { type ReadMessage, readMessage } from './read-message.ts';
import type { CheckpointRate, Position } from './types.ts';

/** The time that closing a connection may take before it is abandoned. */
const closeMilliseconds = 1_000;

/** Bytes that a server may send of a call before they are read. */
export const windowBytes = 1_048_576;

/** A node other than the leader may not have seen what we have just written. */
const requiresLeader = true;

/**
 * A client for a connection string; of two settings with one name it takes the later one. Keep-alive is
 * ours unless the string sets it. A conflict must always throw: otherwise the client reports a wrong
 * revision.
 */
export function connect(url: string): EventStoreDBClient {
  const [address, settings = ''] = url.split('?', 2);
  const all = ['keepAliveInterval=10000', 'keepAliveTimeout=10000', settings];
  const query = [...all, 'throwOnAppendFailure=true'].filter(Boolean).join('&');
  const client = EventStoreDBClient.connectionString(`${address}?${query}`);
  prepareChannels(client);
  return client;
}

/**
 * Lets a call have so many bytes under way, and its messages come in groups. The client has no setting for either: its
 * channels get them as they are made, and use them when they connect. With the 64 KB of HTTP/2 the server has to wait
 * whenever a reader works on what it has.
 */
function prepareChannels(client: EventStoreDBClient): void {
  const members = membersOf(client);
  const create = members.createChannel;
  members.createChannel = async () => {
    const channel = await create();
    channel.internalChannel.options['grpc-node.flow_control_window'] = windowBytes;
    groupIncoming(channel.internalChannel, (path) => path === readPath || path === appendPath);
    return channel;
  };
}

/** The part of a client that appending needs. */
export const appendClient = (client: EventStoreDBClient): AppendClient => ({
  // Without it a failed question looks like an append that may be written.
  ready: () => membersOf(client).capabilities,
  append: createAppendCall({
    open: () => openAppends(client),
    refusal: (answer, stream) => {
      const error = BatchAppendResp.deserializeBinary(answer).getError();
      return error ? unpackToCommandError(error, stream) : new Error('the server gave no position');
    },
    explain: (error) => convertToCommandError(error as Error),
  }),
  cut: () => soon(client.dispose()),
  close: () => closeClient(client),
});

/** The part of a client that reading needs. */
export const readClient = (client: EventStoreDBClient): ReadClient => ({
  readStream: (stream, from, maximum) =>
    openRead(client, (options) => {
      const part = new Options.StreamOptions();
      const identifier = new sharedMessages.StreamIdentifier();
      identifier.setStreamName(Buffer.from(stream));
      part.setStreamIdentifier(identifier);
      if (from === 'last') part.setEnd(empty());
      else part.setRevision(String(from));
      options.setReadDirection(from === 'last' ? backwards : forwards);
      options.setStream(part);
      options.setCount(String(maximum));
      options.setNoFilter(empty());
    }),
  readLast: () => openLast(client),
  subscribe: (prefixes, after, checkpoints) =>
    openRead(client, (options) => {
      options.setAll(allAfter(after));
      options.setSubscription(new Options.SubscriptionOptions());
      options.setFilter(prefixFilter(prefixes, checkpoints));
    }),
});

/**
 * The server's own time in milliseconds, as it stands over its answer to a small read; null when none does.
 * It has whole seconds. A question with an answer of its own does not exist.
 */
export async function dateOf(client: EventStoreDBClient): Promise<number | null> {
  const { readable, explain } = openLast(client);
  const call = await readable;
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const hear = (headers: Headers): void => {
    const [date] = headers.get('date');
    if (date !== undefined) resolve(Date.parse(String(date)) || null);
  };
  call
    .on('metadata', hear)
    // An answer without a message has its headers here.
    .on('status', ({ metadata }: { readonly metadata: Headers }) => hear(metadata))
    .on('error', (error) => reject(explain(error)))
    .on('close', () => resolve(null))
    .resume();
  return promise;
}

/** Headers of an answer. */
interface Headers {
  get(name: string): readonly (string | Buffer)[];
}

/** Ends all calls of a client and its connection, which `dispose` alone leaves open. */
export async function closeClient(client: EventStoreDBClient): Promise<void> {
  await soon(client.dispose());
  const { getChannel } = membersOf(client);
  await soon(getChannel.call(client).then((channel) => channel.close()));
}

/** Protected members of the client that cannot be reached in another way. */
interface Members {
  /** The client's first question to the server, which it asks by itself before its first append. */
  readonly capabilities: Promise<unknown>;
  getChannel(): Promise<{ close(): void }>;
  /** Makes the connection, which is made when it is first used. */
  createChannel: () => Promise<{
    readonly internalChannel: ChoosingChannel & { readonly options: Record<string, unknown> };
  }>;
  /** Opens a call on the connection, which it then manages. */
  GRPCStreamCreator<Opened extends Call>(
    service: unknown,
    name: string,
    open: (stub: Stub) => Opened,
  ): () => Promise<Opened>;
  /** The metadata and options that each call needs. */
  callArguments(options: object, more: object): readonly [metadata: unknown, options: unknown];
}

type ReadCall = Readable & { cancel(): void };
type Call = ReadCall | Duplex;

/** The part of a gRPC client that opens calls of any method. */
interface Stub {
  makeServerStreamRequest(
    path: string,
    serialize: (request: streamMessages.ReadReq) => Buffer,
    deserialize: (bytes: Buffer) => readonly ReadMessage[],
    request: streamMessages.ReadReq,
    metadata: unknown,
    options: unknown,
  ): ReadCall;
  makeBidiStreamRequest(
    path: string,
    serialize: (group: MessageGroup) => Buffer,
    deserialize: (bytes: Buffer) => readonly Buffer[],
    metadata: unknown,
    options: unknown,
  ): Duplex;
}

const membersOf = (client: EventStoreDBClient): Members => client as unknown as Members;

const { BatchAppendResp, ReadReq } = streamMessages;
const { Options } = ReadReq;
const { path: readPath } = streamServices.StreamsService.read;
const { path: appendPath } = streamServices.StreamsService.batchAppend;
const { FORWARDS: forwards, BACKWARDS: backwards } = Options.ReadDirection;
const empty = () => new sharedMessages.Empty();

/** Opens a read of the last event of the whole log. */
const openLast = (client: EventStoreDBClient): OpenCall =>
  openRead(client, (options) => {
    const part = new Options.AllOptions();
    part.setEnd(empty());
    options.setReadDirection(backwards);
    options.setAll(part);
    options.setCount('1');
    options.setNoFilter(empty());
  });

/** Opens a call for appends as the client would, except for the coding of its messages. */
function openAppends(client: EventStoreDBClient): Promise<Duplex> {
  const members = membersOf(client);
  const open = members.GRPCStreamCreator(streamServices.StreamsClient, 'append', (stub) => {
    const given = members.callArguments({ requiresLeader }, { deadline: Infinity });
    // A group is no Buffer, but has all of it that grpc-js asks for.
    const serialize = (group: MessageGroup) => group as unknown as Buffer;
    return stub.makeBidiStreamRequest(appendPath, serialize, messagesIn, ...given);
  });
  return open();
}

/** Opens a read or a subscription as the client would, except for the decoding of its messages. */
function openRead(
  client: EventStoreDBClient,
  choose: (options: streamMessages.ReadReq.Options) => void,
): OpenCall {
  const options = new Options();
  const idsAsText = new Options.UUIDOption();
  idsAsText.setString(empty());
  options.setUuidOption(idsAsText);
  choose(options);
  const request = new ReadReq();
  request.setOptions(options);
  const members = membersOf(client);
  const { requestSerialize } = streamServices.StreamsService.read;
  const messages = (bytes: Buffer) => messagesIn(bytes).map(readMessage);
  const open = members.GRPCStreamCreator(streamServices.StreamsClient, 'read', (stub) => {
    // The reader watches over the time it takes (call-batches.ts).
    const given = members.callArguments({ requiresLeader }, { deadline: Infinity });
    return stub.makeServerStreamRequest(readPath, requestSerialize, messages, request, ...given);
  });
  const readable = open();
  return {
    readable,
    cancel: async () => (await readable).cancel(),
    explain: (error) => convertToCommandError(error as Error),
  };
}

function allAfter(after: Position): streamMessages.ReadReq.Options.AllOptions {
  const part = new Options.AllOptions();
  if (after === 0n) {
    part.setStart(empty());
    return part;
  }
  const { commit, prepare } = pairOf(after);
  const position = new Options.Position();
  position.setCommitPosition(String(commit));
  position.setPreparePosition(String(prepare));
  part.setPosition(position);
  return part;
}

/** Searches of the store, of 32 events each, from one checkpoint to the next. */
const searchesPerCheckpoint: Readonly<Record<CheckpointRate, number>> = { often: 1, seldom: 32 };

function prefixFilter(
  prefixes: readonly string[],
  checkpoints: CheckpointRate,
): streamMessages.ReadReq.Options.FilterOptions {
  const filter = new Options.FilterOptions();
  const expression = new Options.FilterOptions.Expression();
  expression.setPrefixList([...prefixes]);
  filter.setStreamIdentifier(expression);
  filter.setCount(empty());
  filter.setCheckpointintervalmultiplier(searchesPerCheckpoint[checkpoints]);
  return filter;
}

/** Waits for the end of a promise, but not for long, and ignores its outcome. */
const soon = (promise: Promise<unknown>): Promise<void> =>
  within(closeMilliseconds, promise).then(
    () => undefined,
    () => undefined,
  );
