import { categoryPrefix, openEventStore, type StoredEvent } from '@counterfoil/engine';
import { usageIntake, usageReservation } from '@counterfoil/modules';

/** A choice of usage by its environment, its event name and its customer; what is absent restricts nothing. */
export interface UsageChoice {
  readonly environmentId?: string;
  readonly eventName?: string;
  readonly externalCustomerId?: string;
}

/** Events of the log that are taken together: each may hold thousands of usage events. */
const eventsMaximum = 16;

/** `counterfoil usage tail`: prints usage as it is recorded, one JSON document per line, until the signal aborts. */
export async function tailUsage(
  eventStoreUrl: string,
  choice: UsageChoice,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<void> {
  const store = openEventStore({ url: eventStoreUrl });
  try {
    let position = await store.head();
    const prefixes = [categoryPrefix(usageIntake.name), categoryPrefix(usageReservation.name)];
    for await (const items of store.follow(
      { prefixes, after: () => position, signal },
      eventsMaximum,
    )) {
      for (const item of items) {
        if (item.kind === 'caught_up') continue;
        position = item.kind === 'event' ? item.event.position : item.position;
        if (item.kind === 'event') for (const line of usageLines(item.event, choice)) print(line);
      }
    }
  } finally {
    await store.close();
  }
}

/** The usage in an event of the log that is chosen, as lines of JSON with its place and the time it came. */
export function usageLines(
  { position, data, metadata }: Pick<StoredEvent, 'position' | 'data' | 'metadata'>,
  { environmentId, eventName, externalCustomerId }: UsageChoice,
): readonly string[] {
  const { environment_id, occurred_at: recorded_at } = metadata;
  if (environmentId !== undefined && environment_id !== environmentId) return [];
  return factsIn(data).flatMap((fact) => {
    const event = usageIntake.fact.parse(fact);
    if (eventName !== undefined && event.event_name !== eventName) return [];
    if (externalCustomerId !== undefined && event.external_customer_id !== externalCustomerId) {
      return [];
    }
    return [JSON.stringify({ position: String(position), recorded_at, environment_id, ...event })];
  });
}

/** The usage that an event of the log holds: all that came together, or the one that a reservation has let through. */
function factsIn(data: unknown): readonly unknown[] {
  const { facts, usage } = data as {
    readonly facts?: readonly unknown[];
    readonly usage?: unknown;
  };
  return facts ?? [usage];
}
