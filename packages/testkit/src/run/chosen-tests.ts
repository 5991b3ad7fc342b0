// Stands for uvu in a worker that does not run all tests; see worker.ts.
import * as uvu from 'uvu';

const { searchParams } = new URL(import.meta.url);
const part = searchParams.get('name') ?? '';
const endsAtFailure = searchParams.has('endsAtFailure');
let hasFailed = false;

/** A suite of uvu that takes in only the tests that are asked for, and does not run without one. */
export function suite<Context>(name: string, context?: Context): uvu.Test<Context> {
  const all = uvu.suite(name, context);
  let count = 0;
  const addTo = (add: typeof all.only) => (testName: string, handler: uvu.Callback<Context>) => {
    if (!testName.includes(part)) return;
    count += 1;
    add(testName, endsAtFailure ? untilFailure(handler) : handler);
  };
  // Without a test its hooks would start servers for nothing.
  const run = (): void => (count === 0 ? undefined : all.run());
  return Object.assign(addTo(all), all, { only: addTo(all.only), run }) as uvu.Test<Context>;
}

/** The test, which does nothing once another one has failed. */
const untilFailure =
  <Context>(handler: uvu.Callback<Context>): uvu.Callback<Context> =>
  async (context) => {
    if (hasFailed) return;
    try {
      await handler(context);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
