/** Puts the messages of one append of the batch call together. */
import type { BatchMessage, BatchOptions } from './batch-request.ts';
import type { BatchProblem } from './batch-response.ts';
import type { ExpectedRevision } from './commit-check.ts';
import { limits } from './limits.ts';
import { appendSizeOf } from './proposed-event.ts';
import type { ProposedEvent } from './record.ts';
import { streamNameProblem } from './stream-name.ts';

/** An append of the batch call that is still arriving. */
export interface Collecting {
  /** The bytes of its UUID as the client sent it. */
  readonly correlation: Buffer;
  readonly streamName: string;
  readonly expected: ExpectedRevision;
  readonly events: ProposedEvent[];
  bytes: number;
  timer: NodeJS.Timeout | undefined;
  /** Handed to the writer; only its answer is outstanding. */
  writing: boolean;
}

/** Begins an append from the options of its first message. */
export function startCollecting(
  correlation: Buffer,
  { streamName, expected }: BatchOptions,
): { readonly append: Collecting; readonly problem: BatchProblem | undefined } {
  const message =
    streamNameProblem(streamName) ??
    (expected === undefined ? 'no expected revision was given' : undefined);
  return {
    append: {
      correlation,
      streamName,
      expected: expected ?? 'any',
      events: [],
      bytes: 0,
      timer: undefined,
      writing: false,
    },
    problem: message === undefined ? undefined : { kind: 'bad-request', message },
  };
}

/** Adds the events of one message; returns the reason when the append has to be refused. */
export function collectEvents(
  append: Collecting,
  { events }: BatchMessage,
): BatchProblem | undefined {
  for (const event of events) {
    if ('kind' in event) {
      return event.kind === 'bad-request'
        ? event
        : { kind: 'bad-request', message: 'an event has no type or no content type' };
    }
    append.bytes += appendSizeOf(event);
    append.events.push(event);
  }
  return append.bytes > limits.appendBytes ? { kind: 'too-large' } : undefined;
}

/** Milliseconds that an append has to arrive completely. */
export function timeLeft({ deadline }: BatchOptions): number {
  if (deadline === undefined) return limits.batchCollectMilliseconds;
  return Math.min(deadline - Date.now(), limits.batchCollectMilliseconds);
}
