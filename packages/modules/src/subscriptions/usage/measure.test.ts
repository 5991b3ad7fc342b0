import type { AskingContext } from '@counterfoil/engine/define';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { usageInStretches } from '../../usage/index.ts';
import { readOnce } from './measure.ts';

const test = suite('measured usage');

test('usage of the same question is read once, and of another anew', async () => {
  const spans: string[] = [];
  const usageIn = readOnce(async (_context, { span }) => {
    spans.push(span.start);
    return [];
  });
  const asked = (start: string) =>
    usageIn(
      {} as AskingContext,
      {
        eventName: 'call',
        span: { start, end: '2027-03-01T00:00:00.000Z' },
      } as unknown as Parameters<typeof usageInStretches>[1],
    );
  await Promise.all([asked('2027-01'), asked('2027-02'), asked('2027-01')]);
  await asked('2027-02');
  assert.equal(spans, ['2027-01', '2027-02']);
});

test.run();
