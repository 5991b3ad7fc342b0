import type { EventStore, Position } from '@counterfoil/engine';
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

/** The types of the events of a log by the requests that caused them, from the first look on. */
interface Caused {
  upTo: Position;
  readonly types: Map<string, string[]>;
}

/** The events read of each log, so that none is read twice. */
const causedIn = new WeakMap<EventStore, Promise<Caused>>();

/** Reads what is new in a log. */
async function causedUpToNow(store: EventStore): Promise<Caused> {
  const known = causedIn.get(store);
  const reading =
    known === undefined ? fromNowOn(store) : known.then((caused) => more(store, caused));
  causedIn.set(store, reading);
  return await reading;
}

const fromNowOn = async (store: EventStore): Promise<Caused> => ({
  upTo: await store.head(),
  types: new Map(),
});

async function more(store: EventStore, { upTo: after, types }: Caused): Promise<Caused> {
  const upTo = await store.head();
  if (upTo === after) return { upTo, types };
  for await (const { metadata, type } of store.readLog({ prefixes: [''], after, upTo })) {
    const id = metadata.$correlationId;
    types.set(id, [...(types.get(id) ?? []), type]);
  }
  return { upTo, types };
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
  if (!causedIn.has(store)) await causedUpToNow(store);
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
      const { types } = await causedUpToNow(store);
      return [...refused].flatMap(([id, { code, text }]) => {
        const stored = types.get(id) ?? [];
        const found = code === 'invalid_operation' ? mustNotBeStored(stored) : stored;
        return found.map((type) => `${text} stored ${type}`);
      });
    },
  };
}
