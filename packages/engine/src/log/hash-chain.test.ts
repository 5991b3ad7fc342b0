import { randomUUID } from 'node:crypto';
import { canonicalJson } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChainedEvent, chained, chainFault, emptyChain } from './hash-chain.ts';
import { incomingEvent } from './incoming-event.ts';
import type { WireEvent } from './read-message.ts';
import { sampleEvent } from './sample-events.ts';
import type { StoredEvent } from './types.ts';

const test = suite('hash-chain');
const stream = 'wallet-env_1.w1';
const { hash: _hash, ...metadata } = sampleEvent().metadata;
const { event: written } = chained(stream, emptyChain, {
  id: randomUUID(),
  type: 'CreditsGranted',
  data: { z: '1', amount: '2', nested: [{ b: null, a: 'é"😀\u2028' }] },
  metadata: { ...metadata, request: { key: 'k', fields: { hash: 'x' }, events: 1 } },
});
const texts = ChainedEvent.textsOf(written) ?? { data: '', metadata: '' };

/** The event as the store gives it back, with these texts of data and metadata. */
function read({ data, metadata }: { data?: string; metadata?: string } = {}): StoredEvent {
  const recorded: WireEvent = {
    stream,
    revision: 0,
    position: 1,
    id: written.id,
    type: written.type,
    isJson: true,
    data: data ?? texts.data,
    metadata: metadata ?? texts.metadata,
  };
  const event = incomingEvent(recorded);
  if (!event) throw new Error('the event is not ours');
  return event;
}

/** The JSON of an object with its members the other way round. */
const reversed = (text: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).toReversed()));

test('an event fits as it was written, and in any other order or spacing', () => {
  assert.is(chainFault(emptyChain, read()), null);
  assert.is(chainFault(emptyChain, read({ data: reversed(texts.data) })), null);
  assert.is(chainFault(emptyChain, read({ metadata: reversed(texts.metadata) })), null);
  assert.is(chainFault(emptyChain, read({ data: `${texts.data} ` })), null);
});

test('a change of any character of data or metadata is found', () => {
  for (const part of ['data', 'metadata'] as const) {
    const text = texts[part];
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === '7' ? '8' : '7'}${text.slice(at + 1)}`;
      let fault: string | null;
      try {
        fault = chainFault(emptyChain, read({ [part]: changed }));
      } catch {
        continue; // It can no longer be read at all.
      }
      assert.is.not(fault, null, changed);
    }
  }
});

test('a member that is added, or given once more with another value, is found', () => {
  const added = {
    data: ['"added":1', '"amount":"3"'],
    metadata: ['"added":1', '"schema_version":1', '"$causationId":"req_01"', '"actor":null'],
  };
  for (const part of ['data', 'metadata'] as const) {
    for (const more of added[part]) {
      const changed = `${texts[part].slice(0, -1)},${more}}`;
      assert.is.not(chainFault(emptyChain, read({ [part]: changed })), null, more);
    }
  }
});

test('an event follows from the one before it, whose hash it does not repeat', () => {
  assert.is.not(chainFault({ revision: -1, hash: '1'.repeat(64) }, read()), null);
  assert.is.not(chainFault({ revision: 0, hash: emptyChain.hash }, read()), null);
  assert.not.match(texts.metadata, emptyChain.hash);
});

test('a copy that was changed is judged by what it says, not by what it was read from', () => {
  const event = read();
  assert.is(chainFault(emptyChain, { ...event }), null);
  assert.is.not(chainFault(emptyChain, { ...event, data: { amount: '3' } }), null);
  assert.is.not(chainFault(emptyChain, { ...event, type: 'Other' }), null);
});

test('the texts that are kept are the ones that are hashed, in canonical form', () => {
  assert.is(texts.data, '{"amount":"2","nested":[{"a":"é\\"😀\u2028","b":null}],"z":"1"}');
  assert.is(texts.metadata, canonicalJson(JSON.parse(texts.metadata)));
  assert.equal(written.data, JSON.parse(texts.data));
});

test('what JSON cannot carry is refused', () => {
  for (const data of [
    { n: 1n },
    { n: Number.NaN },
    { at: new Date() },
    { text: '\ud800' },
    new Array(2),
    { '\udc00': 1 },
  ]) {
    const event = { id: randomUUID(), type: 'CreditsGranted', data, metadata };
    assert.throws(() => chained(stream, emptyChain, event));
  }
});

test.run();
