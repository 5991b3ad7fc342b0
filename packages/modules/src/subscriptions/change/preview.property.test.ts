import fc from 'fast-check';
import { suite } from 'uvu';
import { changeIsPreview } from '../test-change-previews.ts';

const test = suite('previews of changes of plan');

test('an execution records on both sides what its preview shows, and nothing where that is refused', async () => {
  await fc.assert(changeIsPreview, { numRuns: 150 });
});

test.run();
