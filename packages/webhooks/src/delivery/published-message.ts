import {
  type FeedPage,
  messagePosition,
  type PublicFeed,
  type RequestContext,
} from '@counterfoil/engine/define';
import { Problem } from '@counterfoil/kernel';
import type { StoredMessage } from './queries.ts';

/**
 * A message of the caller's environment as it was published, for one that is not in the queue, because no
 * endpoint was to have it. Null when there is none, none any more, or no broker to ask. Throws a `Problem`
 * when the broker cannot be asked now.
 */
export async function findPublished(
  feed: PublicFeed | null,
  { principal }: Pick<RequestContext, 'principal'>,
  id: string,
): Promise<StoredMessage | null> {
  const position = messagePosition(id);
  if (feed === null || position === null || position === 0n) return null;
  const after = String(position - 1n);
  const { events } = await unlessGone(feed.read(principal, { after, limit: 1 }));
  const event = events.find((one) => one.id === id);
  if (!event) return null;
  const { type, resourceId, stream, revision, body } = event;
  const occurredAt = event.occurredAt as StoredMessage['resource']['occurred_at'];
  return {
    resource: {
      id,
      tenant_id: principal.tenantId,
      environment_id: principal.environmentId,
      event_type: type,
      resource_id: resourceId,
      occurred_at: occurredAt,
      created_at: occurredAt,
      deliveries: [],
    },
    body: JSON.stringify(body),
    stream,
    revision,
  };
}

/** The feed refuses a position whose events it keeps no more, and one that the log has not reached. */
async function unlessGone(reading: Promise<FeedPage>): Promise<Pick<FeedPage, 'events'>> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return { events: [] };
    throw error;
  }
}
