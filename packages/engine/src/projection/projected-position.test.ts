import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PositionClock } from './projected-position.ts';

const test = suite('projected position');

test('lets those go whose position is reached, and nobody else', async () => {
  const clock = new PositionClock();
  clock.set(5n);
  assert.is(await clock.waitFor(5n, 0), true);
  const order: string[] = [];
  const seven = clock.waitFor(7n, 60_000).then((reached) => order.push(`seven ${reached}`));
  const nine = clock.waitFor(9n, 60_000).then((reached) => order.push(`nine ${reached}`));
  clock.set(8n);
  await seven;
  assert.equal(order, ['seven true']);
  clock.close();
  await nine;
  assert.equal(order, ['seven true', 'nine false']);
});

test('gives up at the time-out, on an abort and when too many wait', async () => {
  const clock = new PositionClock();
  assert.is(await clock.waitFor(1n, 1), false);
  assert.is(await clock.waitFor(1n, 0), false);
  const abort = new AbortController();
  const waiting = clock.waitFor(1n, 60_000, abort.signal);
  abort.abort();
  assert.is(await waiting, false);
  const many = Array.from({ length: 10_000 }, () => clock.waitFor(1n, 60_000));
  assert.is(await clock.waitFor(1n, 60_000), false);
  clock.set(1n);
  assert.ok((await Promise.all(many)).every(Boolean));
  // Room again.
  const later = clock.waitFor(2n, 60_000);
  clock.set(2n);
  assert.is(await later, true);
});

test.run();
