import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { reportLines } from './report.ts';

const test = suite('report of an import of a catalogue');

test('each change is a line with its details below, and a sum follows', () => {
  const lines = reportLines({
    dry_run: true,
    changes: [
      { section: 'plans', key: 'pro', action: 'updated', details: ['price pro-monthly: amount'] },
      { section: 'coupons', key: 'old', action: 'archived', details: [] },
    ],
    unchanged: 3,
    refused: [],
  });
  assert.equal(lines, [
    '~ plans pro',
    '    price pro-monthly: amount',
    '- coupons old',
    '0 created, 1 updated, 1 archived, 3 unchanged (nothing was written)',
  ]);
});

test('what was refused is told with its reason', () => {
  const refused = [{ id: 'feat_1', message: 'taken' }];
  const lines = reportLines({ dry_run: false, changes: [], unchanged: 0, refused });
  assert.equal(lines, ['! feat_1: taken', '0 created, 0 updated, 0 archived, 0 unchanged']);
});

test.run();
