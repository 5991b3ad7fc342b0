import type { LookupAddress } from 'node:dns';
import { buildConnector } from 'undici';
import { joined, type ResolveName, resolveByDns, resolvePrivately } from './resolve-name.ts';
import { isAllowedAddress, readAddress, type TargetPolicy } from './target-policy.ts';

/**
 * The target is, or its name leads to, an address that deliveries must not reach. The message does
 * not say which: the tenant may see it, and the addresses of internal names are not its business.
 */
export class BlockedAddress extends Error {
  readonly code = 'BLOCKED_ADDRESS';
  constructor(target: string) {
    super(`${target} leads to a private, local or reserved address`);
    this.name = 'BlockedAddress';
  }
}

/** A name that resolves to nothing, in the form in which the system says that a name is unknown. */
const withoutAddress = (hostname: string): Error =>
  Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });

/** The addresses of a name, at least one. Throws `BlockedAddress` if a single one is not allowed. */
async function checkedAddresses(
  hostname: string,
  resolve: ResolveName,
  policy: TargetPolicy,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const addresses = await resolve(hostname);
  const [first, ...others] = addresses;
  if (!first) throw withoutAddress(hostname);
  const isBlocked = addresses.some(({ address }) => !isAllowedAddress(address, policy));
  if (isBlocked) throw new BlockedAddress(hostname);
  return [first, ...others];
}

type LookupOptions = { readonly all?: boolean | undefined };
type LookupCallback = (
  error: Error | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/**
 * The look-up that Node calls in place of its own. The connection is made to exactly the addresses
 * that were checked; nothing resolves the name a second time, so a name server that changes its
 * answer in between gains nothing.
 */
const guardedLookup =
  (resolve: ResolveName, policy: TargetPolicy) =>
  (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    checkedAddresses(hostname, resolve, policy).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };

/** The options of a guarded connector. */
export interface GuardOptions {
  readonly policy: TargetPolicy;
  /** Milliseconds until a connection, TLS included, must stand. */
  readonly connectTimeout: number;
  /** Replaces the look-up of names; for tests. */
  readonly resolve?: ResolveName;
}

/**
 * Returns the resolver for a policy: a worker that may not reach a private network needs none of
 * its names.
 */
const standardResolve = ({ allowedCidrs }: TargetPolicy): ResolveName =>
  allowedCidrs.length === 0 ? resolveByDns() : resolvePrivately(resolveByDns());

/** The look-up of a policy, for clients of Node's own that are given one. A literal address has to be checked before. */
export const guardedLookupOf = (policy: TargetPolicy) =>
  guardedLookup(joined(standardResolve(policy)), policy);

/**
 * An undici connector that reaches allowed addresses only. It checks three times, because each
 * check alone can be got round: a literal host (Node looks up no literals), every answer of the
 * look-up, and the address of the socket once it is connected.
 */
export function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { policy } = options;
  const resolve = joined(options.resolve ?? standardResolve(policy));
  const connect = buildConnector({
    lookup: guardedLookup(resolve, policy) as never,
    timeout: options.connectTimeout,
    // Stated, so that no environment variable can switch the check of certificates off.
    rejectUnauthorized: true,
    allowH2: false,
  });
  return (target, callback) => {
    if (readAddress(target.hostname) && !isAllowedAddress(target.hostname, policy)) {
      callback(new BlockedAddress(target.hostname), null);
      return;
    }
    connect(target, (error, socket) => {
      if (error) {
        callback(error, null);
        return;
      }
      const reached = socket.remoteAddress;
      if (reached !== undefined && isAllowedAddress(reached, policy)) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(new BlockedAddress(target.hostname), null);
    });
  };
}
