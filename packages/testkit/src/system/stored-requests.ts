import type { EventStore } from '@counterfoil/engine';
import type { Answer, Caller } from '../caller.ts';

/** Requests whose traces in the log are looked for. */
export interface WatchedRequests extends Pick<Caller, 'call'> {
  /**
   * The refused requests (4xx) of which the log nevertheless has an event; should be none. Only that
   * a request was refused for the state of its record may be kept, so that its idempotency key has
   * the same answer for ever.
   */
  storedThoughRefused(): Promise<readonly string[]>;
}

/**
 * Gives each request an id of its own, by which the log names the events that it caused, so that
 * other writes at the same time do not matter.
 */
export async function watchRequests(
  store: EventStore,
  { call }: Pick<Caller, 'call'>,
  name: string,
): Promise<WatchedRequests> {
  const refused = new Map<string, { readonly code: unknown; readonly text: string }>();
  const start = await store.head();
  let sent = 0;
  return {
    async call(method, path, body, headers): Promise<Answer> {
      sent += 1;
      const id = `${name}-${sent}`;
      const answer = await call(method, path, body, { 'x-request-id': id, ...headers });
      const { code } = answer.body ?? {};
      if (answer.status >= 400) {
        refused.set(id, { code, text: `${id} ${method} ${path} ${JSON.stringify(body)}: ${code}` });
      }
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
        if (!request || (type === 'RequestRefused' && request.code === 'invalid_operation'))
          continue;
        found.add(`${request.text} stored ${type}`);
      }
      return [...found];
    },
  };
}
