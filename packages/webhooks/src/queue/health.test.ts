import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Health,
  healthAfter,
  isNews,
  standardBreakerPolicy,
  unknownHealth,
} from './health.ts';

const test = suite('webhook health');

const policy = standardBreakerPolicy;
const minute = 60_000;
const start = Date.parse('2026-11-21T00:00:00Z');
const success = { isSuccess: true, isProbe: false, disableReason: null };
const failure = { isSuccess: false, isProbe: false, disableReason: null };
const probe = { ...failure, isProbe: true };

/** The health after the same thing has happened some times at one moment. */
function times(count: number, health: Health, what: typeof success, now = start): Health {
  let after = health;
  for (let done = 0; done < count; done += 1) after = healthAfter(after, what, now, policy);
  return after;
}

const opened = (): Health => times(10, unknownHealth(start), failure);

test('ten failures in a row hold back, nine do not', () => {
  assert.is(times(9, unknownHealth(start), failure).state, 'closed');
  const held = opened();
  assert.is(held.state, 'open');
  assert.is(held.nextProbeAt, start + 30_000);
  assert.is(held.failingSince, start);
});

test('a success between them begins a new row', () => {
  const nine = times(9, unknownHealth(start), failure);
  const again = times(9, times(20, nine, success), failure);
  assert.is(again.state, 'closed');
});

test('so do seven of ten attempts within the window, but not across two', () => {
  const mixed = (now: number) => {
    const half = times(3, times(3, unknownHealth(start), failure), success);
    return times(4, half, failure, now);
  };
  assert.is(mixed(start + 4 * minute).state, 'open');
  assert.is(mixed(start + 5 * minute).state, 'closed');
});

test('each probe that fails doubles the wait, up to a quarter of an hour', () => {
  let health = opened();
  const waits: number[] = [];
  for (let count = 0; count < 7; count += 1) {
    const now = health.nextProbeAt ?? 0;
    health = healthAfter(health, probe, now, policy);
    waits.push(((health.nextProbeAt ?? 0) - now) / minute);
  }
  assert.equal(waits, [1, 2, 4, 8, 15, 15, 15]);
});

test('what was under way when it opened changes no wait', () => {
  const health = times(5, opened(), failure, start + 1);
  assert.is(health.nextProbeAt, start + 30_000);
  assert.is(health.probes, 0);
});

test('after a probe that succeeds more and more flow, until it counts as well', () => {
  const probed = healthAfter(opened(), { ...success, isProbe: true }, start + minute, policy);
  assert.equal([probed.state, probed.allowance, probed.nextProbeAt], ['half_open', 1, null]);
  assert.is(times(1, probed, success).allowance, 2);
  assert.is(times(5, probed, success).allowance, 32);
  const well = times(6, probed, success);
  assert.equal([well.state, well.allowance, well.probes], ['closed', null, 0]);
});

test('one failure does not end a recovery, two in a row do, and the waits go on growing', () => {
  const held = healthAfter(opened(), probe, start + minute, policy);
  const probed = healthAfter(held, { ...success, isProbe: true }, start + 2 * minute, policy);
  const doubtful = healthAfter(probed, failure, start + 2 * minute, policy);
  assert.is(doubtful.state, 'half_open');
  const back = healthAfter(doubtful, failure, start + 2 * minute, policy);
  assert.is(back.state, 'open');
  assert.is(back.nextProbeAt, start + 4 * minute, 'longer than the last wait');
});

test('who asks to be disabled gets nothing more, whatever comes after', () => {
  const gone = healthAfter(
    unknownHealth(start),
    { ...failure, disableReason: 'gone' },
    start,
    policy,
  );
  assert.equal([gone.state, gone.nextProbeAt, gone.disableReason], ['open', null, 'gone']);
  const late = times(3, times(3, gone, success), probe);
  assert.equal([late.state, late.nextProbeAt, late.disableReason], ['open', null, 'gone']);
});

test('a day of outage costs about a hundred attempts', () => {
  const end = start + 24 * 60 * minute;
  // Eight may be under way when the tenth failure comes.
  let health = times(17, unknownHealth(start), failure);
  let attempts = 17;
  while ((health.nextProbeAt ?? end) < end) {
    health = healthAfter(health, probe, health.nextProbeAt ?? 0, policy);
    attempts += 1;
  }
  assert.ok(attempts <= 150, String(attempts));
  assert.ok(attempts >= 90, String(attempts));
  assert.is(health.failingSince, start);
});

test('that an endpoint is well is news once in a while, every change is at once', () => {
  const well = times(1, unknownHealth(start), success);
  assert.ok(isNews(unknownHealth(start), well, minute));
  assert.not.ok(isNews(well, times(1, well, success, start + minute - 1), minute));
  assert.ok(isNews(well, times(1, well, success, start + minute), minute));
  const failed = times(1, well, failure);
  assert.ok(isNews(well, failed, minute));
  assert.ok(isNews(failed, times(1, failed, success), minute));
});

test.run();
