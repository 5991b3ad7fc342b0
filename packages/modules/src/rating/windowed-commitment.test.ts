import type { Span } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rate } from './rate.ts';
import type { CommitmentSlot, CommitmentTerms, LineCommitment, Usage } from './request.ts';
import { at, buckets, committing, flat, packed, span, text, usageLine } from './test-lines.ts';

const test = suite('commitments of windows');

const day = span('2026-01-01', '2026-01-02');

interface Windowed {
  readonly usage: Usage;
  readonly terms: CommitmentTerms | null;
  readonly slots?: readonly CommitmentSlot[];
  readonly asOf?: string;
  readonly period?: Span;
}

function charged({ usage, terms, slots = [], asOf, period = day }: Windowed) {
  const as_of = asOf === undefined ? period.end : at(asOf);
  const commitment: LineCommitment = { kind: 'windowed', terms, slots, as_of };
  const rated = rate(usageLine(flat('1'), usage, { commitment, period }));
  const { charge } = rated.explanation;
  assert.ok(charge.kind === 'windowed');
  return { ...charge, amount: rated.amount };
}

const hours = (...values: string[]): Usage =>
  buckets('HOUR', 'UTC', ...values.map((value) => `2026-01-01T${value.replace('=', ':00Z=')}`));

test('E 14.4 each window has its commitment', () => {
  const found = charged({ usage: hours('00=10', '01=10'), terms: committing('5', '2') });
  assert.equal(
    [found.amount, found.utilized, found.overage, found.true_up],
    ['30', '10', '20', '0'],
  );
});

const morning: CommitmentSlot = {
  from_minute: 9 * 60,
  to_minute: 12 * 60,
  terms: flat('2'),
  commitment: committing('5', '2'),
};

test('E 14.4 a part of the day has a price and a commitment of its own', () => {
  const found = charged({
    usage: hours('09=10', '10=1', '18=3'),
    terms: committing('10', '2', true),
    slots: [morning],
  });
  const windows = found.windows.map(({ slot, amount }) => [slot, amount]);
  assert.equal(windows, [
    [0, '35'],
    [0, '2'],
    [null, '10'],
  ]);
  // 47 for the windows with usage, and ten for each of the twenty empty ones outside the slot.
  assert.equal(found.empty, [{ slot: null, windows: 20, each: '10', amount: '200' }]);
  assert.equal(
    [found.amount, found.utilized, found.overage, found.true_up, found.uncommitted],
    ['247', '10', '30', '207', '0'],
  );
});

test('windows outside the slots are plain where the line has no commitment', () => {
  const usage = hours('09=10', '18=3');
  const found = charged({ usage, terms: null, slots: [morning] });
  assert.equal([found.amount, found.uncommitted, found.empty], ['38', '3', []]);
});

test('empty windows are charged only in the slots that are trued up', () => {
  const slots = [{ ...morning, commitment: committing('5', '2', true) }];
  const found = charged({ usage: hours('10=7'), terms: committing('1', '2'), slots });
  assert.equal(found.empty, [{ slot: 0, windows: 2, each: '5', amount: '10' }]);
  assert.is(found.amount, '33');
});

test('a commitment in units is what they cost in a window', () => {
  const slots = [{ ...morning, terms: packed('4', '10'), commitment: committing('11 units', '2') }];
  assert.is(charged({ usage: hours('09=31'), terms: null, slots }).amount, '24');
});

test('of a period that runs only windows that are over are trued up', () => {
  const terms = committing('5', '2', true);
  const found = charged({ usage: hours('00=1', '02=2'), terms, asOf: '2026-01-01T02:30Z' });
  assert.equal(found.empty, [{ slot: null, windows: 1, each: '5', amount: '5' }]);
  assert.equal(
    found.windows.map(({ amount }) => amount),
    ['5', '2'],
  );
});

test('a window that two periods share is trued up once, in the first', () => {
  const terms = committing('5', '2', true);
  const [first, second] = [
    span('2026-01-01T09:30Z', '2026-01-01T11:30Z'),
    span('2026-01-01T11:30Z', '2026-01-01T13:00Z'),
  ];
  const inFirst = charged({ usage: hours('09=1', '11=1'), terms, period: first });
  assert.equal([inFirst.amount, inFirst.true_up], ['11', '9']);
  const inSecond = charged({ usage: hours('11=2'), terms, period: second });
  assert.equal([inSecond.amount, inSecond.true_up], ['7', '5']);
});

test('the parts of the day are those of the zone, and may go over midnight', () => {
  const night = { ...morning, from_minute: 22 * 60, to_minute: 2 * 60 };
  const usage = buckets(
    'HOUR',
    'America/New_York',
    '2026-01-02T02:00Z=1',
    '2026-01-02T03:00Z=1',
    '2026-01-02T06:00Z=1',
    '2026-01-02T07:00Z=1',
  );
  const period = span('2026-01-01T05:00Z', '2026-01-03T05:00Z');
  const found = charged({ usage, terms: null, slots: [night], period });
  assert.equal(
    found.windows.map(({ slot }) => slot),
    [null, 0, 0, null],
  );
});

test('parts of the day that overlap are refused', () => {
  const slots = [morning, { ...morning, from_minute: 11 * 60, to_minute: 13 * 60 }];
  assert.throws(() => charged({ usage: hours('09=1'), terms: null, slots }), /do not overlap/);
});

test('groups of a window share its commitment', () => {
  const usage = buckets('HOUR', 'UTC', '2026-01-01T00:00Z=3/a', '2026-01-01T00:00Z=4/b');
  const found = charged({ usage, terms: committing('5', '2') });
  assert.equal([found.amount, found.windows.length], ['9', 1]);
});

test('a month of minutes is trued up for each of them, also where clocks change', () => {
  const found = charged({
    usage: buckets('MINUTE', 'Europe/Berlin'),
    terms: committing('0.01', '1', true),
    period: span('2026-02-28T23:00Z', '2026-03-31T22:00Z'),
  });
  assert.equal(found.empty, [
    { slot: null, windows: (31 * 24 - 1) * 60, each: text('0.01'), amount: text('445.8') },
  ]);
});

test.run();
