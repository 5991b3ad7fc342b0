import { Agent, request } from 'undici';
import type { ResolveName } from './resolve-name.ts';
import { signedHeaders } from './signing.ts';
import { guardedConnector } from './target-guard.ts';
import { checkTargetUrl, type TargetPolicy } from './target-policy.ts';

/** A question to a tenant's own server, as JSON; signed as a webhook is. */
export interface Question {
  readonly url: string;
  /** The same for the same question, however often it is asked. */
  readonly id: string;
  readonly body: Uint8Array;
  readonly secret: string;
  /** Milliseconds for everything, the body of the answer included. */
  readonly timeout: number;
  /** Bytes that an answer may have. */
  readonly answerBytes: number;
}

/**
 * A question has no answer. Of the reason the tenant may know the kind and the status, and nothing of the inside: neither addresses nor
 * what a machine there has said.
 */
export class NotAnswered extends Error {
  override readonly name = 'NotAnswered';
  readonly kind: 'unreachable' | 'timed_out' | 'refused' | 'too_large';

  constructor(kind: NotAnswered['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Asks questions of servers that the policy allows. */
export interface Asker {
  /** Asks once, follows no redirect, and gives the body of an answer 200. Throws `NotAnswered` for anything else. */
  ask(question: Question): Promise<Uint8Array>;
}

const connectMilliseconds = 3_000;
const headerBytes = 16 * 1024;
/** Connections to one server; what is asked beyond them waits, within its time. */
const connectionsMaximum = 16;
/** However busy it is, a connection is replaced after this: the address of its name is looked up, and checked, again. */
const connectionLifeMilliseconds = 60_000;

/** An asker whose connections all pass the guard (target-guard.ts). A connection at rest holds no process. */
export function createAsker(options: {
  readonly policy: TargetPolicy;
  /** Replaces the look-up of names; for tests. */
  readonly resolve?: ResolveName;
  /** Seconds since 1970, for signatures. */
  readonly seconds: () => number;
}): Asker {
  const { policy, resolve, seconds } = options;
  const agent = new Agent({
    connect: guardedConnector({
      policy,
      connectTimeout: connectMilliseconds,
      ...(resolve ? { resolve } : {}),
    }),
    connections: connectionsMaximum,
    clientTtl: connectionLifeMilliseconds,
    pipelining: 1,
    maxHeaderSize: headerBytes,
  });
  return {
    ask: async ({ url, id, body, secret, timeout, answerBytes }) => {
      const checked = checkTargetUrl(url, policy);
      if ('refusal' in checked)
        throw new NotAnswered('unreachable', `the address ${checked.refusal}`);
      const signal = AbortSignal.timeout(timeout);
      try {
        const answer = await request(checked.url, {
          ...{ dispatcher: agent, method: 'POST', signal, body },
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            'user-agent': 'Counterfoil/1',
            ...signedHeaders({ id, timestamp: seconds(), body }, [secret]),
          },
        });
        if (answer.statusCode !== 200) {
          // Nobody reads it; the connection is cut rather than read to its end.
          answer.body.on('error', () => undefined).destroy();
          throw new NotAnswered('refused', `it answered ${answer.statusCode}`);
        }
        return await bounded(answer.body, answerBytes);
      } catch (error) {
        if (error instanceof NotAnswered) throw error;
        if (signal.aborted) {
          throw new NotAnswered('timed_out', `it did not answer within ${timeout} ms`, {
            cause: error,
          });
        }
        throw new NotAnswered('unreachable', 'there is no connection to it', { cause: error });
      }
    },
  };
}

/** The whole body of an answer. Throws `NotAnswered` once it is larger than it may be. */
async function bounded(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  maximum: number,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.byteLength;
    if (size > maximum)
      throw new NotAnswered('too_large', `its answer has more than ${maximum} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
