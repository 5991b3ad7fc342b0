import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { Problem } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type BodyBytes, readBody } from './read-body.ts';

const test = suite('reading of bodies');

const kibibytes = (count: number, fill: string): Buffer =>
  Buffer.alloc(count * 1024, Buffer.from(fill));

/** The outcome for a body that comes in these chunks. */
async function read(
  chunks: readonly Buffer[],
  headers: Readonly<Record<string, string>>,
  limit = 1024 * 1024,
): Promise<BodyBytes | Problem> {
  const stream = new PassThrough();
  const request = Object.assign(stream, { headers }) as unknown as IncomingMessage;
  const outcome = new Promise<BodyBytes | Problem>((resolve) => readBody(request, limit, resolve));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return outcome;
}

function bodyIn(outcome: BodyBytes | Problem): BodyBytes {
  if (outcome instanceof Problem) throw outcome;
  return outcome;
}

const isGivenBack = ({ buffer }: Buffer): boolean =>
  buffer instanceof ArrayBuffer && buffer.detached;

for (const [name, headers] of [
  ['of a declared length', { 'content-length': String(150 * 1024) }],
  ['of an unknown length', { 'transfer-encoding': 'chunked' }],
] as const) {
  test(`a body ${name}: the memory of each chunk is given back, and that of the body when it is no longer needed`, async () => {
    const chunks = [kibibytes(60, 'ab'), kibibytes(60, 'cd'), kibibytes(30, 'ef')];
    const expected = Buffer.concat(chunks);
    const body = bodyIn(await read(chunks, headers));
    assert.ok(body.bytes.equals(expected));
    assert.equal(chunks.map(isGivenBack), [true, true, true]);
    assert.not.ok(isGivenBack(body.bytes));
    body.giveBack();
    assert.ok(isGivenBack(body.bytes));
  });
}

test('a body that comes at once is not copied', async () => {
  const chunk = Buffer.from(new Uint8Array(100).buffer);
  const body = bodyIn(await read([chunk], { 'content-length': '100' }));
  assert.is(body.bytes.buffer, chunk.buffer);
});

test('memory that others have parts of is left to them', async () => {
  const shared = kibibytes(100, 'x');
  const parts = [shared.subarray(0, 40_000), shared.subarray(40_000, 80_000)];
  const body = bodyIn(await read(parts, { 'content-length': '80000' }));
  assert.is(body.bytes.length, 80_000);
  assert.not.ok(isGivenBack(shared));
});

test('what has come of a body that turns out too large is given back', async () => {
  const chunks = [kibibytes(60, 'a'), kibibytes(60, 'b')];
  const outcome = await read(chunks, { 'transfer-encoding': 'chunked' }, 100 * 1024);
  assert.instance(outcome, Problem);
  assert.is((outcome as Problem).code, 'payload_too_large');
  assert.ok(isGivenBack(chunks[0] as Buffer));
});

for (const [encoding, encode] of [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const) {
  const headers = { 'content-encoding': encoding.toUpperCase() };
  test(`a body in ${encoding} is decoded, up to the limit, and refused when it is cut off`, async () => {
    const plain = kibibytes(300, 'counterfoil ');
    const coded = encode(plain);
    assert.ok(bodyIn(await read([coded], headers)).bytes.equals(plain));
    const large = await read([coded], headers, 200 * 1024);
    assert.is((large as Problem).code, 'payload_too_large');
    const cut = await read([coded.subarray(0, coded.length - 9)], headers);
    assert.is((cut as Problem).code, 'validation_error');
  });
}

test('other encodings are refused', async () => {
  const outcome = await read([Buffer.from('x')], { 'content-encoding': 'compress' });
  assert.is((outcome as Problem).code, 'unsupported_media_type');
});

test.run();
