import { categoryPrefix, openEventStore, type StoredEvent } from '@counterfoil/engine';
import { modules } from '@counterfoil/modules';
import type { ServerUrls } from './settings.ts';

const itemsMaximum = 500;

/** One event as a line of JSON; positions are text, because they may outgrow a JSON number. */
const lineOf = ({ position, ...event }: StoredEvent): string =>
  JSON.stringify({ position: String(position), ...event });

export interface TailOptions {
  /** The position to start from, instead of the end of the log. */
  readonly after: bigint | null;
  /** True to stop at the end of the log instead of waiting for more. */
  readonly isOnce: boolean;
  readonly signal: AbortSignal;
}

/** `counterfoil events tail`: prints events as they come, one JSON document per line. */
export async function tailEvents(
  urls: ServerUrls,
  { after, isOnce, signal }: TailOptions,
  print: (line: string) => void,
): Promise<void> {
  const store = openEventStore({ url: urls.eventStoreUrl });
  const prefixes = modules({ secrets: null })
    .flatMap(({ aggregates }) => aggregates)
    .map(({ name }) => categoryPrefix(name));
  try {
    const head = await store.head();
    const start = after ?? (isOnce ? 0n : head);
    if (isOnce) {
      for await (const event of store.readLog({ prefixes, after: start, upTo: head, signal })) {
        print(lineOf(event));
      }
      return;
    }
    let position = start;
    const subscription = { prefixes, after: () => position, signal };
    for await (const items of store.follow(subscription, itemsMaximum)) {
      for (const item of items) {
        if (item.kind === 'caught_up') continue;
        position = item.kind === 'event' ? item.event.position : item.position;
        if (item.kind === 'event') print(lineOf(item.event));
      }
    }
  } finally {
    await store.close();
  }
}
