import type { Connection } from '@counterfoil/engine';
import { sleep } from '@counterfoil/engine';
import { followGivenUp, type GivenUp } from '../queue/attempt-store.ts';
import { releaseNext, stuckLanes } from '../queue/ordering.ts';
import { withQueueLock } from '../queue/queue-lock.ts';
import { type Loop, type LoopOptions, startLoop } from './loop.ts';

/** The time that things are kept, in days. */
export interface Retention {
  readonly attemptDays: number;
  /** Messages go with their deliveries. Those that are not delivered by then are given up. */
  readonly messageDays: number;
}

export interface RetentionOptions extends LoopOptions {
  readonly retention: Retention;
  /** Milliseconds between two looks when there is nothing to do. */
  readonly intervalMs: number;
  /** Called when deliveries have become due. */
  readonly onDue: () => void;
}

/** Rows that one statement removes or changes at most, so that none holds others up for long. */
const attemptsMaximum = 5_000;
/** A message goes with all its deliveries and their attempts, which may be many. */
const messagesMaximum = 500;
const givenUpMaximum = 1_000;
/** Looks for what is old between two looks for lanes that are stuck, which cost more. */
const roundsPerStuck = 10;

/** Starts to remove what is old, as fast as it comes to be old, and to mend lanes. */
export function startRetention(options: RetentionOptions): Loop {
  const { retention, intervalMs, onDue } = options;
  return startLoop(options, async ({ connection, signal, succeeded }) => {
    for (let round = 0; !signal.aborted; round += 1) {
      const givenUp = await withQueueLock(connection, 'queue', () =>
        giveUpOld(connection, retention),
      );
      const hasMore = await removeOld(connection, retention);
      const mended = round % roundsPerStuck === 0 ? await mendLanes(connection) : 0;
      succeeded();
      if (givenUp + mended > 0) onDue();
      if (!hasMore && givenUp < givenUpMaximum) await sleep(intervalMs, signal);
    }
  });
}

/** Removes some of what is older than it is to be kept. Returns whether there may be more of it. */
export async function removeOld(connection: Connection, retention: Retention): Promise<boolean> {
  const attempts = await connection.query(
    `delete from counterfoil.webhook_attempts
      where ctid = any (array (
        select ctid from counterfoil.webhook_attempts
         where recorded_at < now() - $1 * interval '1 day' limit ${attemptsMaximum}))`,
    [retention.attemptDays],
    { prepared: true },
  );
  const messages = await connection.query(
    `delete from counterfoil.webhook_messages
      where event_id in (
        select event_id from counterfoil.webhook_messages message
         where created_at < now() - $1 * interval '1 day'
           and not exists (select from counterfoil.webhook_deliveries delivery
                            where delivery.event_id = message.event_id
                              and delivery.state in ('pending', 'waiting', 'sending') offset 0)
         order by created_at limit ${messagesMaximum})`,
    [retention.messageDays],
    { prepared: true },
  );
  return attempts.count === attemptsMaximum || messages.count === messagesMaximum;
}

/**
 * Gives up what has not been delivered until its message is too old to be kept, and reports it; what
 * waits for it goes on. Returns how many. To be called under the queue lock.
 */
export async function giveUpOld(connection: Connection, retention: Retention): Promise<number> {
  const { rows } = await connection.query<GivenUp>(
    `update counterfoil.webhook_deliveries delivery
        set state = 'exhausted', finished_at = now()
      where id in (
        select delivery.id from counterfoil.webhook_messages message
         cross join lateral (
           select id from counterfoil.webhook_deliveries
            where event_id = message.event_id and state in ('pending', 'waiting') offset 0) delivery
         where message.created_at < now() - $1 * interval '1 day'
         order by message.created_at limit ${givenUpMaximum})
        and lower(delivery.state) in ('pending', 'waiting')
     returning id, endpoint_id as "endpointId", lane, turn`,
    [retention.messageDays],
    { prepared: true },
  );
  return await followGivenUp(connection, rows);
}

/**
 * Lets lanes go on in which deliveries wait for nothing. There should be none; but a lane that is
 * stuck is deliveries lost, so they are looked for. Returns how many there were.
 */
async function mendLanes(connection: Connection): Promise<number> {
  const stuck = await stuckLanes(connection);
  if (stuck.length === 0) return 0;
  await withQueueLock(connection, 'queue', () =>
    releaseNext(
      connection,
      stuck.map((lane) => ({ ...lane, lastTurn: null })),
    ),
  );
  return stuck.length;
}
