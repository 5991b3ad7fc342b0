// Stands for uvu in a worker that runs only the tests with a part in their name; see worker.ts.
import * as uvu from 'uvu';

const part = new URL(import.meta.url).searchParams.get('name') ?? '';

/** A suite of uvu that takes in only the tests that are asked for, and does not run without one. */
export function suite<Context>(name: string, context?: Context): uvu.Test<Context> {
  const all = uvu.suite(name, context);
  let count = 0;
  const addTo = (add: typeof all.only) => (testName: string, handler: uvu.Callback<Context>) => {
    if (!testName.includes(part)) return;
    count += 1;
    add(testName, handler);
  };
  // Without a test its hooks would start servers for nothing.
  const run = (): void => (count === 0 ? undefined : all.run());
  return Object.assign(addTo(all), all, { only: addTo(all.only), run }) as uvu.Test<Context>;
}
