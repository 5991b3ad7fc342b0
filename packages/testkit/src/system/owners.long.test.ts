import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertOwnersMayFail } from './owner-faults.ts';

const test = suite('owners of contended records, for long');

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

test('through 200 faults of owners all is there once, and what others can serve is served in 2 s', async () => {
  const result = await assertOwnersMayFail({
    faults: 200,
    holdMilliseconds: 10_000,
    restMilliseconds: 100,
    print,
  });
  print(JSON.stringify(result));
  assert.ok(result.handedOver > 0);
  assert.ok(
    result.slowestOfHealthy < 2_000,
    `${result.slowestOfHealthy} ms, ${result.slowestAfter}`,
  );
});

test.run();
