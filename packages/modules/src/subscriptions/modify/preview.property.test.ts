import fc from 'fast-check';
import { suite } from 'uvu';
import { executionIsPreview } from '../test-previews.ts';

const test = suite('previews of modifications');

test('an execution records what its preview shows, and nothing where that is refused', async () => {
  await fc.assert(executionIsPreview, { numRuns: 150 });
});

test.run();
