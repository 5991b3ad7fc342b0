import ipaddr from 'ipaddr.js';

/** The rules of where deliveries may go. The defaults of production are `strictTargetPolicy`. */
export interface TargetPolicy {
  /** True when http:// is allowed beside https://. */
  readonly allowHttp: boolean;
  /** Ranges that are allowed although they are not public: for tests and private installations. */
  readonly allowedCidrs: readonly string[];
  /** Ranges that are refused although they are public, such as the service's own addresses. */
  readonly deniedCidrs: readonly string[];
}

/** The policy of production: public addresses by https alone. */
export const strictTargetPolicy: TargetPolicy = {
  allowHttp: false,
  allowedCidrs: [],
  deniedCidrs: [],
};

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Public by its range, yet a machine of the hosting provider: the agent of every Azure guest,
 * which hands out credentials.
 */
const providerInternal = '168.63.129.16';

/** The part of IPv6 that is given out to the public Internet; everything else is special. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * The address that a connection to this text would really reach, IPv4-mapped IPv6 as IPv4.
 * Null when the text is no address. Old forms of IPv4 (`0x7f.1`, `2130706433`) are addresses,
 * because the operating system takes them as such.
 */
export function readAddress(text: string): Address | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : null;
}

const isWithin = (address: Address, cidr: string): boolean => {
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return address.kind() === network.kind() && address.match(network, bits);
};

/** `::8.8.8.8` reads like IPv4 but leads to an IPv6 address that nobody owns. */
const isCompatibleForm = (text: string): boolean =>
  text.includes(':') && text.includes('.') && !/^\[?(0*:)*:?ffff:/i.test(text);

const isPublic = (address: Address): boolean => {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv6
    ? address.match(globalIpv6)
    : address.toString() !== providerInternal;
};

/** Tells whether a delivery may connect to an address. A text that is no address is refused. */
export function isAllowedAddress(text: string, policy: TargetPolicy): boolean {
  const address = readAddress(text);
  if (!address || isCompatibleForm(text)) return false;
  if (policy.deniedCidrs.some((cidr) => isWithin(address, cidr))) return false;
  return isPublic(address) || policy.allowedCidrs.some((cidr) => isWithin(address, cidr));
}

/** Tells whether a text is an address range such as `10.0.0.0/8`. */
export const isCidr = (text: string): boolean => ipaddr.isValidCIDR(text);

const firstUnprivilegedPort = 1024;

/** Ports below 1024 belong to other services, such as mail, which HTTP could be used to attack. */
const isAllowedPort = (port: string): boolean =>
  port === '' || port === '80' || port === '443' || Number(port) >= firstUnprivilegedPort;

const isLocalName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost');

/** The URL as it will be called, or what is wrong with it. */
export type CheckedUrl = { readonly url: string } | { readonly refusal: string };

/**
 * Checks the URL of an endpoint as far as that is possible without asking the network: what its
 * name resolves to is checked at every connection (target-guard.ts). Pure.
 */
export function checkTargetUrl(text: string, policy: TargetPolicy): CheckedUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url) return { refusal: 'must be a URL such as "https://example.com/webhooks"' };
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:')) {
    return { refusal: policy.allowHttp ? 'must use https or http' : 'must use https' };
  }
  if (url.username || url.password) return { refusal: 'must not contain a user or password' };
  if (!isAllowedPort(url.port)) return { refusal: 'must use port 80, 443 or one above 1023' };
  const literal = isLocalName(url.hostname) ? '127.0.0.1' : url.hostname;
  if (readAddress(literal) && !isAllowedAddress(literal, policy)) {
    return { refusal: 'must not point to a private, local or reserved address' };
  }
  url.hash = '';
  return { url: url.href };
}
