import type { EventStore } from '@counterfoil/engine';
import type { Answer, Caller } from '../caller.ts';

/** Requests whose traces in the log are looked for. */
export interface WatchedRequests extends Pick<Caller, 'call'> {
  /**
   * The refused requests (4xx) of which the log nevertheless has an event; should be none. Only that
   * a request was refused for the state of its record may be kept, so that its idempotency key has
   * the same answer for ever; and how the debit of a customer found too little in all the wallets
   * together, as long as nothing of what it held on the way stays held.
   */
  storedThoughRefused(): Promise<readonly string[]>;
}

/** The start and the end of a refused debit of several wallets. */
const refusedDebit = ['DebitRequested', 'DebitRefused'];

/** Of what a request refused for the state of its records has left behind, what it may not leave. */
function mustNotBeStored(types: readonly string[]): readonly string[] {
  const count = (type: string) => types.filter((each) => each === type).length;
  const isUndone =
    refusedDebit.every((type) => count(type) === 1) &&
    count('CreditsHeld') === count('HoldReleased');
  const permitted = isUndone
    ? [...refusedDebit, 'CreditsHeld', 'HoldReleased']
    : ['RequestRefused'];
  return types.filter((type) => !permitted.includes(type));
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
      const stored = new Map<string, string[]>();
      const upTo = await store.head();
      for await (const { metadata, type } of store.readLog({
        prefixes: [''],
        after: start,
        upTo,
      })) {
        const id = metadata.$correlationId;
        if (refused.has(id)) stored.set(id, [...(stored.get(id) ?? []), type]);
      }
      return [...stored].flatMap(([id, types]) => {
        const request = refused.get(id);
        const found = request?.code === 'invalid_operation' ? mustNotBeStored(types) : types;
        return found.map((type) => `${request?.text} stored ${type}`);
      });
    },
  };
}
