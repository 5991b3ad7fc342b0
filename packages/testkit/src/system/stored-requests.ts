import type { EventStore } from '@counterfoil/engine';
import type { Answer, Caller } from '../caller.ts';

/** Requests whose traces in the log are looked for. */
export interface WatchedRequests extends Pick<Caller, 'call'> {
  /** Ids of the refused requests (4xx) of which the log nevertheless has an event; should be none. */
  storedThoughRefused(): Promise<readonly string[]>;
}

/**
 * Gives each request an id of its own, by which the log says which events it caused, so that it
 * does not matter what else is written at the same time.
 */
export async function watchRequests(
  store: EventStore,
  { call }: Pick<Caller, 'call'>,
  name: string,
): Promise<WatchedRequests> {
  const refused = new Map<string, string>();
  const start = await store.head();
  let sent = 0;
  return {
    async call(method, path, body, headers): Promise<Answer> {
      sent += 1;
      const id = `${name}-${sent}`;
      const answer = await call(method, path, body, { 'x-request-id': id, ...headers });
      if (answer.status >= 400) refused.set(id, `${id} ${method} ${path} ${JSON.stringify(body)}`);
      return answer;
    },
    async storedThoughRefused() {
      const found = new Set<string>();
      const upTo = await store.head();
      for await (const { metadata, type } of store.readLog({
        prefixes: [''],
        after: start,
        upTo,
      })) {
        const request = refused.get(metadata.$correlationId);
        if (request) found.add(`${request} stored ${type}`);
      }
      return [...found];
    },
  };
}
