import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** All addresses of a name; none when it has none. Rejects when nobody can tell. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

/** A name that does not resolve, in the form in which the system says so. */
const unresolved = (hostname: string, why: string): Error =>
  Object.assign(new Error(`${hostname} does not resolve: ${why}`, { cause: why }), {
    code: 'EAI_AGAIN',
  });

/** Milliseconds that a name server gets for an answer, and how often it is asked. */
const askedFor = 1_500;
const tries = 2;

/** What a name server says of a name that is not there, or has no address of this kind. */
const absent: readonly string[] = ['ENOTFOUND', 'ENODATA'];

const codeOf = (error: unknown): string =>
  String((error as { readonly code?: unknown } | null)?.code ?? error);

/**
 * Asks the name servers of the system directly. The system's own look-up keeps a thread until it has
 * an answer, and there are few of them: a handful of names whose name servers never answer would
 * keep every tenant's deliveries waiting. `servers` replaces the system's; for tests.
 */
export function resolveByDns(servers?: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: askedFor, tries });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    const found = answers.flatMap((answer, index) =>
      answer.status === 'rejected'
        ? []
        : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
    );
    const codes = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [codeOf(answer.reason)] : [],
    );
    const trouble = codes.find((code) => !absent.includes(code));
    if (found.length === 0 && trouble !== undefined) throw unresolved(hostname, trouble);
    return found;
  };
}

const resolveBySystem: ResolveName = (hostname) =>
  new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error) reject(error);
      else resolve(addresses);
    });
  });

/**
 * Asks the name servers, and the system for what they do not know: an installation that may deliver
 * within its own network may have names in a file of its hosts, or no name server at all. Not for a
 * name whose name server does not answer, which would take one of the system's threads.
 */
export const resolvePrivately =
  (resolve: ResolveName): ResolveName =>
  async (hostname) => {
    const found = await resolve(hostname).catch((error: Error) => {
      if (error.cause === 'ETIMEOUT') throw error;
      return [];
    });
    return found.length > 0 ? found : await resolveBySystem(hostname);
  };

/**
 * Joins look-ups of the same name that run at the same time: an endpoint whose name server hangs is
 * asked for once, and not by each of its deliveries.
 */
export function joined(resolve: ResolveName): ResolveName {
  const running = new Map<string, Promise<readonly LookupAddress[]>>();
  return (hostname) => {
    const known = running.get(hostname);
    if (known) return known;
    const started = resolve(hostname).finally(() => running.delete(hostname));
    running.set(hostname, started);
    return started;
  };
}
