import type { Instant } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregationSchema } from '../../meters/index.ts';
import { definitionDigest, groupingDefinition } from '../roll-ups/definition.ts';
import {
  definitionIn,
  groupingsMaximum,
  type KeptDefinition,
  keepGrouping,
  leaveGroupingOut,
  type UsageGroupingState,
} from './usage-grouping.ts';

const test = suite('sums that are kept for questions');

const now = '2026-11-01T00:00:00.000Z' as Instant;
const byModel: KeptDefinition = {
  event_name: 'tokens',
  field: 'count',
  expression: null,
  filters: [],
  group_by: 'model',
};
const digestOf = (data: KeptDefinition): string => definitionDigest(definitionIn(data));
const none: UsageGroupingState = { kept: [], leftOut: [] };
const kept: UsageGroupingState = { kept: [digestOf(byModel)], leftOut: [] };
const leftOut: UsageGroupingState = { kept: [], leftOut: [digestOf(byModel)] };
const full: UsageGroupingState = {
  kept: Array.from({ length: groupingsMaximum }, (_, number) =>
    digestOf({ ...byModel, group_by: `property-${number}` }),
  ),
  leftOut: [],
};

for (const [given, state, decision, then] of [
  ['of nothing, it is kept', none, keepGrouping(byModel), 'UsageGroupingKept'],
  ['one that is kept is not kept twice', kept, keepGrouping(byModel), null],
  ['one that was left out is not kept again', leftOut, keepGrouping(byModel), null],
  ['no more are kept of one name than the limit', full, keepGrouping(byModel), null],
  ['one that is kept is left out', kept, leaveGroupingOut(byModel), 'UsageGroupingLeftOut'],
  ['one is left out before it was kept', none, leaveGroupingOut(byModel), 'UsageGroupingLeftOut'],
  ['one is left out once', leftOut, leaveGroupingOut(byModel), null],
] as const) {
  test(given, () => {
    const expected = then === null ? [] : [{ type: then, data: byModel }];
    assert.equal(decision(state, now), expected);
  });
}

test('the order of the values of a filter makes no other grouping', () => {
  const aggregation = aggregationSchema.parse({ type: 'SUM', field: 'count' });
  const filtered = (values: readonly string[]) => {
    const filters = [{ key: 'region', values }];
    const definition = groupingDefinition('tokens', aggregation, filters, 'model');
    return definition && definitionDigest(definition);
  };
  assert.is(filtered(['eu', 'us']), filtered(['us', 'eu', 'us']));
});

test.run();
