import { Agent, request } from 'undici';
import type { ResolveName } from './resolve-name.ts';
import { guardedConnector } from './target-guard.ts';
import { checkTargetUrl, type TargetPolicy } from './target-policy.ts';

/** A file cannot be fetched. The message is for the caller, and says nothing of the inside. */
export class FileNotFetched extends Error {
  override readonly name = 'FileNotFetched';
}

/** The ways in which a fetch is bounded, in milliseconds. */
const limits = { connect: 10_000, headers: 30_000, silence: 30_000 } as const;

interface FetchOptions {
  readonly policy: TargetPolicy;
  readonly signal: AbortSignal;
  /** Replaces the look-up of names; for tests. */
  readonly resolve?: ResolveName;
}

/**
 * The bytes of a file at a URL, as they arrive. The connection goes to addresses that the policy allows (target-guard.ts), and no
 * redirect is followed. Throws `FileNotFetched` where there is no such file, or it breaks off.
 */
export async function* fetchedFile(
  url: string,
  { policy, signal, resolve }: FetchOptions,
): AsyncGenerator<Uint8Array> {
  const checked = checkTargetUrl(url, policy);
  if ('refusal' in checked) throw new FileNotFetched(`The file_url ${checked.refusal}.`);
  const agent = new Agent({
    connect: guardedConnector({
      policy,
      connectTimeout: limits.connect,
      ...(resolve ? { resolve } : {}),
    }),
    headersTimeout: limits.headers,
    bodyTimeout: limits.silence,
  });
  try {
    const answer = await request(checked.url, { dispatcher: agent, method: 'GET', signal });
    if (answer.statusCode !== 200) {
      throw new FileNotFetched(`The file_url answered ${answer.statusCode}.`);
    }
    // What is shorter than it was said to be is a failure of the connection.
    for await (const piece of answer.body) yield piece as Buffer;
  } catch (error) {
    if (error instanceof FileNotFetched || signal.aborted) throw error;
    throw new FileNotFetched(`The file_url cannot be read: ${reasonOf(error)}.`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

/** The code of a failure, such as ECONNREFUSED or BLOCKED_ADDRESS; nothing else of it is the caller's business. */
const reasonOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : 'no answer';
