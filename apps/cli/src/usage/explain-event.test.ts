import type { UsageEventTrace } from '@counterfoil/modules';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explainedEvent } from './explain-event.ts';

const test = suite('usage explain');

const event: UsageEventTrace['event'] = {
  id: 'r-1',
  event_name: 'tokens',
  external_customer_id: 'acme',
  customer_id: 'cust_1',
  environment_id: 'env_1',
  timestamp: '2026-05-01T00:00:00.000Z',
  source: 'web',
  properties: { model: 'large' },
};
const counting = { meter_name: 'Tokens', counted: true, feature_ids: ['feat_1', 'feat_2'] };

test('an event that counts is explained meter by meter', () => {
  const lines = explainedEvent({
    event,
    position: '4711',
    status: 'processed',
    reasons: [],
    processed_events: [],
    meters: [
      { ...counting, meter_id: 'meter_1', value: '1200' },
      { ...counting, meter_id: 'meter_2', value: null, feature_ids: [] },
      { ...counting, meter_id: 'meter_3', counted: false, value: null, reason: 'has no count' },
    ] as UsageEventTrace['meters'],
  });
  assert.equal(lines, [
    'r-1: processed',
    '  tokens of acme (cust_1) at 2026-05-01T00:00:00.000Z, position 4711 of the log',
    '  source: web',
    '  properties: {"model":"large"}',
    '  + Tokens (meter_1): 1200, for feat_1, feat_2',
    '  + Tokens (meter_2): the event',
    '  - Tokens (meter_3): not counted, has no count',
  ]);
});

test('an event that nobody counts says why', () => {
  const reasons = ['No customer has the external id acme.'];
  const lines = explainedEvent({
    event: { ...event, customer_id: null, source: '', properties: {} },
    ...{ position: '1', status: 'processing', reasons, processed_events: [], meters: [] },
  });
  assert.equal(lines, [
    'r-1: processing',
    '  tokens of acme (nobody yet) at 2026-05-01T00:00:00.000Z, position 1 of the log',
    '  properties: {}',
    '  ! No customer has the external id acme.',
  ]);
});

test.run();
