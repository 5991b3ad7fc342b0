import type { StoredEvent } from '@counterfoil/engine';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type UsageChoice, usageLines } from './tail-usage.ts';

const test = suite('usage as it is recorded');

const timestamp = '2026-05-01T00:00:00.000Z';
const fact = (event_id: string, event_name: string, external_customer_id: string) => ({
  event_id,
  event_name,
  external_customer_id,
  timestamp,
});
const recorded = {
  position: 7n,
  data: { facts: [fact('1', 'tokens', 'acme'), fact('2', 'calls', 'other')] },
  metadata: { environment_id: 'env_1', occurred_at: timestamp },
} as unknown as StoredEvent;

const choices: readonly [string, UsageChoice, readonly string[]][] = [
  ['all', {}, ['1', '2']],
  ['an environment', { environmentId: 'env_1' }, ['1', '2']],
  ['another environment', { environmentId: 'env_2' }, []],
  ['a name', { eventName: 'calls' }, ['2']],
  ['a customer', { externalCustomerId: 'acme' }, ['1']],
];
for (const [what, choice, ids] of choices) {
  test(`of ${what} is shown`, () => {
    const shown = usageLines(recorded, choice).map((line) => JSON.parse(line).event_id);
    assert.equal(shown, ids);
  });
}

test('usage that a reservation has let through is shown like all usage', () => {
  const data = { quantity: '1', usage: fact('3', 'calls', 'acme') };
  const shown = usageLines({ ...recorded, data }, { eventName: 'calls' });
  assert.is(JSON.parse(shown[0] ?? '').event_id, '3');
});

test('a line has its place in the log and the time of its recording', () => {
  const [line = ''] = usageLines(recorded, {});
  const place = { position: '7', recorded_at: timestamp, environment_id: 'env_1' };
  assert.equal(JSON.parse(line), { ...place, ...fact('1', 'tokens', 'acme') });
});

test.run();
