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
  const end = '2027-03-01T00:00:00.000Z';
  const asked = (start: string, span: object = { start, end }) =>
    usageIn(
      {} as AskingContext,
      { eventName: 'call', span } as unknown as Parameters<typeof usageInStretches>[1],
    );
  await Promise.all([asked('2027-01'), asked('2027-02'), asked('2027-01')]);
  await asked('2027-02');
  // As the log has it.
  await asked('', { end, start: '2027-01' });
  assert.equal(spans, ['2027-01', '2027-02']);
});

test.run();
