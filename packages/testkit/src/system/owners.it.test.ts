import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertOwnersMayFail } from './owner-faults.ts';

const test = suite('owners of contended records');

test('through 12 faults of owners all is there once, and every process gives the same answers', async () => {
  const { movements, handedOver } = await assertOwnersMayFail({
    faults: 12,
    holdMilliseconds: 1_200,
    restMilliseconds: 60,
    print: () => undefined,
  });
  assert.ok(movements > 0);
  assert.ok(handedOver > 0, 'requests were handed over');
});

test.run();
