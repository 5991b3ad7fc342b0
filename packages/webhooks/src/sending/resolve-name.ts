import { type LookupAddress, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { setTimeout as pause } from 'node:timers/promises';

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

/** The answers of a name server for a name that is not there, or has no address of this kind. */
const absent: readonly string[] = ['ENOTFOUND', 'ENODATA'];

const codeOf = (error: unknown): string =>
  String((error as { readonly code?: unknown } | null)?.code ?? error);

/** The answer about one kind of address. `trouble`: the reason why there is none; else null. */
interface Answer {
  readonly addresses: readonly LookupAddress[];
  readonly trouble: string | null;
}

async function answerOf(asked: Promise<readonly string[]>, family: 4 | 6): Promise<Answer> {
  try {
    return { addresses: (await asked).map((address) => ({ address, family })), trouble: null };
  } catch (error) {
    const code = codeOf(error);
    return { addresses: [], trouble: absent.includes(code) ? null : code };
  }
}

/** Milliseconds that the other kind of address is waited for when one of them is known. */
const otherKindMs = 200;

/** The answers of both kinds, or of one that is enough to go on with. */
async function enough(kinds: readonly Promise<Answer>[]): Promise<readonly Answer[]> {
  const known: Answer[] = [];
  const all = Promise.all(kinds.map(async (kind) => known.push(await kind)));
  await Promise.race(kinds);
  if (known.some(({ addresses }) => addresses.length > 0)) {
    const patience = new AbortController();
    const late = pause(otherKindMs, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([all, late]);
    patience.abort();
  } else {
    await all;
  }
  return [...known];
}

/**
 * Asks the name servers of the system directly. The system's own look-up keeps a thread until it has
 * an answer, and there are few of them: a handful of names whose name servers never answer would
 * keep every tenant's deliveries waiting. `servers` replaces the system's; for tests.
 */
export function resolveByDns(servers?: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: askedFor, tries });
  if (servers) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await enough([
      answerOf(resolver.resolve4(hostname), 4),
      answerOf(resolver.resolve6(hostname), 6),
    ]);
    const addresses = answers
      .flatMap((answer) => answer.addresses)
      .toSorted((left, right) => left.family - right.family);
    const trouble = answers.find((answer) => answer.trouble !== null)?.trouble;
    if (addresses.length === 0 && trouble) throw unresolved(hostname, trouble);
    return addresses;
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
