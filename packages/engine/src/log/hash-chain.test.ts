import { randomUUID } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { chained, chainFault, emptyChain } from './hash-chain.ts';
import { incomingEvent } from './incoming-event.ts';
import type { WireEvent } from './read-message.ts';
import { sampleEvent } from './sample-events.ts';
import type { StoredEvent } from './types.ts';

const test = suite('hash-chain');
const stream = 'wallet-env_1.w1';
const { hash: _hash, ...metadata } = sampleEvent().metadata;
const { event: written } = chained(stream, 0, {
  id: randomUUID(),
  type: 'CreditsGranted',
  data: { z: '1', amount: '2', nested: [{ b: null, a: 'é"😀\u2028' }] },
  metadata: { ...metadata, request: { key: 'k', fields: { hash: 'x' }, events: 1 } },
});

/** The event as the store gives it back, with these texts of data and metadata. */
function read({ data, metadata }: { data?: string; metadata?: string } = {}): StoredEvent {
  const recorded: WireEvent = {
    stream,
    revision: 0,
    position: 1,
    id: written.id,
    type: written.type,
    isJson: true,
    data: data ?? JSON.stringify(written.data),
    metadata: metadata ?? JSON.stringify(written.metadata),
  };
  const event = incomingEvent(recorded);
  if (!event) throw new Error('the event is not ours');
  return event;
}

/** The JSON of an object with its members the other way round. */
const reversed = (value: unknown): string =>
  JSON.stringify(Object.fromEntries(Object.entries(value as object).toReversed()));

test('an event fits as it was written, and in any other order or spacing', () => {
  assert.is(chainFault(emptyChain, read()), null);
  assert.is(chainFault(emptyChain, read({ data: reversed(written.data) })), null);
  assert.is(chainFault(emptyChain, read({ metadata: reversed(written.metadata) })), null);
  assert.is(chainFault(emptyChain, read({ data: `${JSON.stringify(written.data)} ` })), null);
});

test('a change of any character of data or metadata is found', () => {
  for (const part of ['data', 'metadata'] as const) {
    const text = JSON.stringify(written[part]);
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
  const text = JSON.stringify(written.data);
  for (const more of ['"added":1', '"amount":"3"']) {
    assert.is.not(chainFault(emptyChain, read({ data: `${text.slice(0, -1)},${more}}` })), null);
  }
});

test('a copy that was changed is judged by what it says, not by what it was read from', () => {
  const event = read();
  assert.is(chainFault(emptyChain, { ...event }), null);
  assert.is.not(chainFault(emptyChain, { ...event, data: { amount: '3' } }), null);
  assert.is.not(chainFault(emptyChain, { ...event, type: 'Other' }), null);
});

test('the text that is kept is the text that is hashed', () => {
  assert.is(
    JSON.stringify(written.data),
    '{"amount":"2","nested":[{"a":"é\\"😀\u2028","b":null}],"z":"1"}',
  );
  const names = Object.keys(written.metadata);
  assert.equal(names, names.toSorted());
});

test.run();
