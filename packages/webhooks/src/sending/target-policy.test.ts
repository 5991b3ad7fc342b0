import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkTargetUrl, isAllowedAddress, strictTargetPolicy } from './target-policy.ts';

const test = suite('target policy');

const forbidden = [
  ['0.0.0.0', 'this host'],
  ['10.0.0.1', 'private'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['127.0.0.1', 'loopback'],
  ['127.1', 'loopback, short form'],
  ['0x7f.1', 'loopback, hexadecimal'],
  ['0177.0.0.1', 'loopback, octal'],
  ['2130706433', 'loopback, decimal'],
  ['169.254.169.254', 'metadata of most clouds'],
  ['168.63.129.16', 'agent of Azure'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private, last'],
  ['192.0.0.192', 'metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarking'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['[::1]', 'loopback in brackets'],
  ['::2', 'unassigned'],
  ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
  ['::ffff:7f00:1', 'IPv4-mapped loopback, hexadecimal'],
  ['[::ffff:10.0.0.1]', 'IPv4-mapped private'],
  ['0:0:0:0:0:ffff:a9fe:a9fe', 'IPv4-mapped metadata, written out'],
  ['::127.0.0.1', 'IPv4-compatible loopback'],
  ['::8.8.8.8', 'IPv4-compatible'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated loopback'],
  ['64:ff9b::7f00:1', 'NAT64 of loopback'],
  ['64:ff9b::8.8.8.8', 'NAT64'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'unassigned'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of AWS'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with a zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['example.com', 'no address'],
  ['', 'nothing'],
] as const;

const open = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '::ffff:8.8.8.8', '2606:4700::1111', '[2a00::1]'];

test('addresses that are not public are refused', () => {
  for (const [address, what] of forbidden) {
    assert.not.ok(isAllowedAddress(address, strictTargetPolicy), `${address} (${what})`);
  }
});

test('public addresses are allowed', () => {
  for (const address of open) assert.ok(isAllowedAddress(address, strictTargetPolicy), address);
});

test('ranges can be allowed and denied by configuration', () => {
  const policy = {
    ...strictTargetPolicy,
    allowedCidrs: ['127.0.0.0/8', '::1/128'],
    deniedCidrs: ['8.8.8.0/24', '127.0.0.9/32'],
  };
  for (const address of ['127.0.0.1', '0x7f.1', '::ffff:127.0.0.1', '::1']) {
    assert.ok(isAllowedAddress(address, policy), address);
  }
  for (const address of ['10.0.0.1', '::2', '8.8.8.8', '::ffff:8.8.8.8', '127.0.0.9']) {
    assert.not.ok(isAllowedAddress(address, policy), address);
  }
});

const refusal = (url: string, policy = strictTargetPolicy): string => {
  const checked = checkTargetUrl(url, policy);
  return 'refusal' in checked ? checked.refusal : '';
};

test('a URL is https, without credentials, at an HTTP port', () => {
  assert.match(refusal('http://example.com/'), /must use https/);
  assert.is(refusal('http://example.com/', { ...strictTargetPolicy, allowHttp: true }), '');
  assert.match(refusal('ftp://example.com/'), /must use https/);
  assert.match(refusal('file:///etc/passwd'), /must use https/);
  assert.match(refusal('example.com/hook'), /must be a URL/);
  assert.match(refusal('https://'), /must be a URL/);
  assert.match(refusal('https://user@example.com/'), /user or password/);
  assert.match(refusal('https://:pass@example.com/'), /user or password/);
  assert.match(refusal('https://example.com:25/'), /port/);
  for (const port of ['', ':443', ':80', ':1024', ':8443']) {
    assert.is(refusal(`https://example.com${port}/`), '', port);
  }
});

test('a URL with a literal address must be public, however it is written', () => {
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.1',
    '127.1',
    '[::1]',
    '[::7f00:1]',
    '[::ffff:127.0.0.1]',
    '10.1',
    'localhost',
    'LOCALHOST',
    'api.localhost',
    '%31%32%37.1',
    '①②⑦.0.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '127.0.0.1.',
  ]) {
    assert.match(refusal(`https://${host}/`), /private, local or reserved/, host);
  }
  assert.is(refusal('https://8.8.8.8/'), '');
});

test('a URL is kept as it will be called', () => {
  const checked = checkTargetUrl('HTTPS://Bücher.example:443/a b?c=d#e', strictTargetPolicy);
  assert.equal(checked, { url: 'https://xn--bcher-kva.example/a%20b?c=d' });
});

test.run();
