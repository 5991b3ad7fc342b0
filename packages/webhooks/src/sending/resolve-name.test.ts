import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { resolveByDns, resolvePrivately } from './resolve-name.ts';

const test = suite<{ servers: string[]; asked: string[]; close: () => void }>('names');

/** The name that a question is about, and its kind (1: IPv4, 28: IPv6). */
function questionOf(query: Buffer): { name: string; kind: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), kind: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An answer to a question: a code (0: fine, 3: no such name), and addresses of 4 or 16 bytes. */
function answerTo(query: Buffer, end: number, code: number, address: Buffer | null): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(address ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  if (!address) return head;
  const record = Buffer.from([0xc0, 12, 0, address.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, 0]);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, record, address]);
}

test.before(async (context) => {
  const socket = createSocket('udp4');
  context.asked = [];
  socket.on('message', (query, from) => {
    const { name, kind, end } = questionOf(query);
    context.asked.push(name);
    if (name.startsWith('hangs') || (name === 'half.example' && kind !== 1)) return;
    const reply = (code: number, address: Buffer | null) =>
      socket.send(answerTo(query, end, code, address), from.port, from.address);
    if (name === 'broken.example') reply(2, null);
    else if (name !== 'quick.example' && name !== 'half.example') reply(3, null);
    else reply(0, kind === 1 ? Buffer.from([203, 0, 113, 7]) : null);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  context.servers = [`127.0.0.1:${socket.address().port}`];
  context.close = () => socket.close();
});
test.after(({ close }) => close());

test('names whose name servers never answer hold up no other name', async ({ servers, asked }) => {
  const resolve = resolveByDns(servers);
  let ended = 0;
  const hanging = Array.from({ length: 50 }, (_, index) =>
    resolve(`hangs-${index}.example`).then(
      () => assert.unreachable('it resolved'),
      (error: { readonly code?: string }) => {
        ended += 1;
        assert.is(error.code, 'EAI_AGAIN');
      },
    ),
  );
  assert.equal(await resolve('quick.example'), [{ address: '203.0.113.7', family: 4 }]);
  assert.is(ended, 0);
  assert.ok(asked.includes('hangs-0.example'));
  await Promise.all(hanging);
});

test('a name server that keeps silent about one kind of address does not hold up the other', async (context) => {
  const { servers, asked } = context;
  const resolve = resolveByDns(servers);
  assert.equal(await resolve('half.example'), [{ address: '203.0.113.7', family: 4 }]);
  const questions = asked.filter((name) => name === 'half.example');
  assert.is(questions.length, 2, 'it was not asked a second time');
});

test('a name that is not there has no addresses; one of which nobody can tell is an error', async (context) => {
  const resolve = resolveByDns(context.servers);
  assert.equal(await resolve('nowhere.example'), []);
  try {
    await resolve('broken.example');
    assert.unreachable('it resolved');
  } catch (error) {
    assert.match(String(error), 'broken.example does not resolve: ESERVFAIL');
  }
});

test('within a private network the system knows more names', async ({ servers }) => {
  const resolve = resolvePrivately(resolveByDns(servers));
  const addresses = (await resolve('localhost')).map(({ address }) => address);
  assert.ok(addresses.includes('127.0.0.1') || addresses.includes('::1'));
  assert.equal(await resolve('quick.example'), [{ address: '203.0.113.7', family: 4 }]);
});

test.run();
