import { AckPolicy, type ConsumerInfo, DeliverPolicy, ReplayPolicy } from 'nats';
import type { DurableReader, ReaderStart, ReaderStatus } from '../define/event-broker.ts';
import { publicStream, readerSubjects } from '../define/subject.ts';
import { firstKept, sequenceAfter } from '../relay/sequence-after.ts';
import { nanoseconds } from './nats-connection.ts';
import { unlessMissing } from './nats-streams.ts';
import type { JetStreamRequests } from './nats-tail.ts';

/** The time that a reader has to confirm a message before it is given again. */
const confirmMilliseconds = 30_000;
const consumerNotFound = 10014;

const statusOf = ({ num_pending, num_ack_pending }: ConsumerInfo): ReaderStatus => ({
  pending: num_pending,
  unconfirmed: num_ack_pending,
});

/** The broker has no place for metadata before 2.10, so the description carries the generation. */
const describe = ({ generation }: DurableReader): string =>
  `Reader of a downstream system, generation ${generation}`;

async function infoOf(
  { manager, run }: JetStreamRequests,
  name: string,
): Promise<ConsumerInfo | null> {
  return run(unlessMissing(consumerNotFound, () => manager.consumers.info(publicStream, name)));
}

/** Returns what the broker knows of a durable reader; null when there is none of that name. */
export async function durableStatus(
  requests: JetStreamRequests,
  name: string,
): Promise<ReaderStatus | null> {
  const info = await infoOf(requests, name);
  return info && statusOf(info);
}

/** Removes a durable reader and its place. Doing it again changes nothing. */
export async function removeDurable(requests: JetStreamRequests, name: string): Promise<void> {
  if (!(await infoOf(requests, name))) return;
  await requests.run(requests.manager.consumers.delete(publicStream, name));
}

/**
 * Makes a durable reader, unless there is one of this generation already. One whose beginning is no longer
 * kept begins with the oldest message, for a reader that waits for ever helps nobody; `onGap` is told.
 */
export async function ensureDurable(
  requests: JetStreamRequests,
  reader: DurableReader,
  onGap: () => void,
): Promise<ReaderStatus> {
  const existing = await infoOf(requests, reader.name);
  if (existing?.config.description === describe(reader)) return statusOf(existing);
  if (existing) await removeDurable(requests, reader.name);
  const { isIncomplete, ...start } = await startConfig(requests, reader.start);
  const created = await requests.run(
    requests.manager.consumers.add(publicStream, {
      durable_name: reader.name,
      description: describe(reader),
      filter_subject: readerSubjects(reader.scope, reader.resource),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanoseconds(confirmMilliseconds),
      max_ack_pending: reader.unconfirmedMaximum,
      max_deliver: -1,
      replay_policy: ReplayPolicy.Instant,
      ...start,
    }),
  );
  // Messages that were dropped since the beginning was looked up are missing too.
  const isLate = async (): Promise<boolean> =>
    start.opt_start_seq !== undefined && (await firstKept(requests)) > start.opt_start_seq;
  if (isIncomplete || (await isLate())) onGap();
  return statusOf(created);
}

/** The place at which a consumer begins, and whether messages before it are no longer kept. */
interface Start {
  readonly isIncomplete: boolean;
  readonly deliver_policy: DeliverPolicy;
  readonly opt_start_time?: string;
  readonly opt_start_seq?: number;
}

async function startConfig(requests: JetStreamRequests, start: ReaderStart): Promise<Start> {
  const isIncomplete = false;
  switch (start.kind) {
    case 'oldest':
      return { deliver_policy: DeliverPolicy.All, isIncomplete };
    case 'time':
      return { deliver_policy: DeliverPolicy.StartTime, opt_start_time: start.at, isIncomplete };
    case 'position': {
      const place = await sequenceAfter(requests, BigInt(start.after));
      const { sequence: opt_start_seq, isIncomplete } = place;
      return { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq, isIncomplete };
    }
    default:
      return start satisfies never;
  }
}
