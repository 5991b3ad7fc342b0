import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contentsBytesMaximum, outgoingAppends } from './annex.ts';
import { appendBytesMaximum } from './outgoing-append.ts';
import { sampleEvent } from './sample-events.ts';
import { AppendError } from './types.ts';

const test = suite('annex');
const stream = 'wallet-env_01.w1';

const bytesOf = (note: string): number =>
  outgoingAppends(stream, [sampleEvent({ note })], -1)[0]?.bytes ?? 0;

test('events up to the limit are one append, and a byte more has an annex', () => {
  const note = 'x'.repeat(appendBytesMaximum - bytesOf(''));
  const appends = (text: string) => outgoingAppends(stream, [sampleEvent({ note: text })], -1);
  assert.equal(
    appends(note).map(({ bytes }) => bytes),
    [appendBytesMaximum],
  );
  assert.ok(appends(`${note}x`).length > 1);
});

for (const [name, text] of [
  ['plain', 'x'],
  ['quoted', '"'],
  ['control', '\u0001'],
  ['of three bytes', '語'],
  ['in pairs', '😀'],
] as const) {
  test(`no append is larger than a server takes: 1,003 events with text ${name}`, () => {
    const note = text.repeat(1024 / text.length);
    const events = Array.from({ length: 1_003 }, () => sampleEvent({ note }));
    const appends = outgoingAppends(stream, events, 4);
    for (const { bytes } of appends) assert.ok(bytes <= appendBytesMaximum, `${bytes} bytes`);
    const commit = appends.at(-1);
    assert.is(commit?.stream, stream);
    assert.is(commit?.expectedRevision, 4);
    assert.equal(
      commit?.events.map(({ id }) => id),
      events.map(({ id }) => id),
    );
    const annex = appends.slice(0, -1);
    assert.is(new Set(annex.map((append) => append.stream)).size, 1);
    assert.ok(annex[0]?.stream.startsWith('annex-env_01.'));
    assert.equal(
      annex.map(({ expectedRevision }) => expectedRevision),
      annex.map((_, index) => index - 1),
    );
  });
}

test('what no request can ask for is refused', () => {
  const large = sampleEvent({ note: 'x'.repeat(contentsBytesMaximum) });
  assert.throws(
    () => outgoingAppends(stream, [large], -1),
    (error: Error) => error instanceof AppendError && error.failure === 'too_large',
  );
});

test.run();
