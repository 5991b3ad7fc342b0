import type { ConnectionOptions } from 'nats';

type Address = Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'>;

/**
 * Connection options from addresses such as `nats://user:password@host:4222,nats://other`. The
 * client itself leaves credentials in an address unused. A user without a password is a token.
 * `tls://` asks for TLS. Throws a TypeError on a text that is no such address.
 */
export function natsAddress(text: string): Address {
  const addresses = text.split(',').map((part) => readAddress(part.trim()));
  const named = addresses.find((address) => address.username !== '');
  return {
    servers: addresses.map((address) => address.host),
    ...(named ? credentials(named) : {}),
    ...(addresses.some((address) => address.protocol === 'tls:') ? { tls: {} } : {}),
  };
}

function readAddress(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url?.host || !['nats:', 'tls:'].includes(url.protocol)) {
    // The text may hold a password, so it is not repeated.
    throw new TypeError('the NATS address has to look like nats://host:4222');
  }
  return url;
}

function credentials({ username, password }: URL): Address {
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
}
