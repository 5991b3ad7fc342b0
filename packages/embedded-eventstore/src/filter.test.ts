import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileFilter } from './filter.ts';
import { limits } from './limits.ts';
import { sharedMessages, streamMessages } from './protocol.ts';
import { encodeRecord } from './record.ts';

const test = suite('filter');

const { FilterOptions } = streamMessages.ReadReq.Options;

interface Wanted {
  readonly on?: 'stream' | 'type';
  readonly regex?: string;
  readonly prefixes?: string[];
  readonly max?: number;
  readonly multiplier?: number;
}

function compile({ on = 'type', regex = '', prefixes = [], max, multiplier = 1 }: Wanted) {
  const expression = new FilterOptions.Expression().setRegex(regex).setPrefixList(prefixes);
  const options = new FilterOptions().setCheckpointintervalmultiplier(multiplier);
  if (on === 'stream') options.setStreamIdentifier(expression);
  else options.setEventType(expression);
  if (max === undefined) options.setCount(new sharedMessages.Empty());
  else options.setMax(max);
  return compileFilter(options);
}

function record(streamName: string, type: string): Buffer {
  const event = {
    id: '0f8fad5b-d9cb-469f-a165-70867728950e',
    type,
    isJson: false,
    data: Buffer.alloc(0),
    metadata: Buffer.alloc(0),
  };
  const name = Buffer.from(streamName);
  return encodeRecord(event, {
    streamName: name,
    streamId: 1,
    revision: 0,
    position: 1,
    createdAt: 0,
  });
}

function matches(wanted: Wanted, streamName: string, type: string): boolean {
  const filter = compile(wanted);
  if ('problem' in filter) throw new Error(filter.problem);
  return filter.matches(record(streamName, type));
}

test('matches any of the prefixes, by bytes and case', () => {
  const wanted: Wanted = { on: 'stream', prefixes: ['ledger-', 'wället-'] };
  assert.ok(matches(wanted, 'ledger-1', 'x'));
  assert.ok(matches(wanted, 'wället-1', 'x'));
  assert.not(matches(wanted, 'Ledger-1', 'x'));
  assert.not(matches(wanted, 'ledger', 'ledger-1'));
  assert.not(matches(wanted, 'my-ledger-1', 'x'));
});

test('matches types where types are asked for', () => {
  assert.ok(matches({ prefixes: ['Posted'] }, 'x', 'PostedTwice'));
  assert.not(matches({ prefixes: ['Posted'] }, 'Posted', 'x'));
});

test('searches with a regular expression as it is written', () => {
  assert.ok(matches({ regex: 'b' }, 'x', 'abc'));
  assert.not(matches({ regex: '^b' }, 'x', 'abc'));
  assert.ok(matches({ regex: '^[^$].*' }, 'x', 'abc'));
  assert.not(matches({ regex: '^[^$].*' }, 'x', '$metadata'));
});

test('prefers the regular expression to the prefixes', () => {
  assert.not(matches({ regex: '^z', prefixes: ['a'] }, 'x', 'abc'));
});

test('counts the checkpoint interval in considered events', () => {
  const interval = (wanted: Wanted) => {
    const filter = compile({ ...wanted, prefixes: ['a'] });
    return 'problem' in filter ? filter.problem : filter.checkpointInterval;
  };
  assert.is(interval({}), 32);
  assert.is(interval({ multiplier: 2 }), 64);
  assert.is(interval({ max: 10, multiplier: 3 }), 30);
});

const refused: readonly (readonly [string, Wanted])[] = [
  ['a multiplier of zero', { prefixes: ['a'], multiplier: 0 }],
  ['a window of zero', { prefixes: ['a'], max: 0 }],
  ['no expression', {}],
  ['a malformed regular expression', { regex: '(' }],
  ['a very long regular expression', { regex: 'a'.repeat(limits.filterRegexCharacters + 1) }],
  ['too many prefixes', { prefixes: Array(limits.filterPrefixes + 1).fill('a') }],
];
for (const [description, wanted] of refused) {
  test(`refuses ${description}`, () => assert.ok('problem' in compile(wanted)));
}

test('refuses a filter on nothing', () => {
  assert.ok('problem' in compileFilter(new FilterOptions().setCheckpointintervalmultiplier(1)));
});

test.run();
