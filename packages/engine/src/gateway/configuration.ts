import { operatorClaims, serviceClaims, systemClaims } from './claims.ts';
import type { GatewayKeys } from './keys.ts';

/** What the configuration of a server of the gateway depends on. */
export interface GatewayPlace {
  /** Address that downstream systems connect to, such as `0.0.0.0:4222`. */
  readonly listen: string;
  /** Folder in which the server keeps the accounts it was told about. */
  readonly directory: string;
  /** Where the broker listens for leaf nodes, such as `nats-leaf://user:password@host:7422`. */
  readonly leafUrl: string;
}

/**
 * The configuration of a nats-server as the gateway: it believes this installation's operator alone, keeps
 * its accounts on disk, has no JetStream and is linked with the broker. Nothing in it is secret but
 * what the address of the broker contains. The list of all accounts has to fit into one message. JSON strings are strings in this format as well.
 */
export function gatewayConfiguration(
  keys: GatewayKeys,
  { listen, directory, leafUrl }: GatewayPlace,
): string {
  const { system, service } = keys;
  return `listen: ${JSON.stringify(listen)}
max_payload: 8MB
operator: ${operatorClaims(keys)}
system_account: ${system.publicKey}
resolver: {
  type: full
  dir: ${JSON.stringify(directory)}
  allow_delete: true
  limit: 1000000
  interval: "2m"
}
resolver_preload: {
  ${system.publicKey}: ${systemClaims(keys)}
  ${service.publicKey}: ${serviceClaims(keys)}
}
leafnodes {
  reconnect: 1
  remotes: [{ urls: [${JSON.stringify(leafUrl)}], account: ${service.publicKey} }]
}
`;
}
