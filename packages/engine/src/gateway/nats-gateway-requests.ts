import type { NatsSession } from '../nats/nats-connection.ts';

/**
 * The requests that a server of the gateway answers for the user of its system account. All throw when
 * it does not answer in time, and when it refuses.
 */
export interface GatewayRequests {
  readonly session: NatsSession;
  /** The public keys of all accounts that the server has. */
  list(): Promise<ReadonlySet<string>>;
  /** The claims of an account that the server has. */
  lookUp(account: string): Promise<string>;
  /** Replaces the claims of an account. It costs the server a write to its disk. */
  update(claims: string): Promise<void>;
  /** Removes the accounts that the claims name. */
  remove(claims: string): Promise<void>;
}

interface Answer {
  readonly data?: unknown;
  readonly error?: { readonly description?: string };
}

/** Requests over one session (https://docs.nats.io, "System account", and the account resolver). */
export function gatewayRequests(session: NatsSession, milliseconds: number): GatewayRequests {
  const ask = (subject: string, content = '') =>
    session.connection.request(subject, content, { timeout: milliseconds });
  const askForData = async (subject: string, content?: string): Promise<unknown> => {
    const { data, error } = (await ask(subject, content)).json<Answer>();
    if (data === undefined || error) {
      throw new Error(`the event gateway refuses: ${error?.description ?? 'without a reason'}`);
    }
    return data;
  };
  return {
    session,
    list: async () => new Set((await askForData('$SYS.REQ.CLAIMS.LIST')) as string[]),
    lookUp: async (account) => (await ask(`$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`)).string(),
    update: async (claims) => void (await askForData('$SYS.REQ.CLAIMS.UPDATE', claims)),
    remove: async (claims) => void (await askForData('$SYS.REQ.CLAIMS.DELETE', claims)),
  };
}
