import { operatorClaims, serviceClaims, systemClaims } from './claims.ts';
import type { GatewayKeys } from './keys.ts';

/** The place of a server of the gateway in an installation. */
export interface GatewayPlace {
  /** The address that downstream systems connect to, such as `0.0.0.0:4222`. */
  readonly listen: string;
  /** The folder in which the server keeps the accounts it was told about. */
  readonly directory: string;
  /** The broker's address for leaf nodes, such as `nats-leaf://user:password@host:7422`. */
  readonly leafUrl: string;
}

/**
 * The configuration of a nats-server as the gateway: it trusts this installation's operator alone, keeps
 * its accounts on disk, has no JetStream and is linked with the broker. The only secret in it is the
 * password within the broker's address. `max_payload` lets the list of all accounts fit into one message.
 * JSON strings are strings in this format as well.
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
