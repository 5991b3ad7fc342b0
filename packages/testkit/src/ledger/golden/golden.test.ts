import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aggregateOf, aggregates, corpus, fileOf, shownToday } from './golden.ts';

const test = suite('golden corpus of event versions');

/**
 * Returns where today's value lacks something of the recorded one, or has another value; null for
 * nowhere.
 */
function firstLoss(recorded: unknown, today: unknown, place: string): string | null {
  if (typeof recorded !== 'object' || recorded === null) {
    return recorded === today ? null : `${place}: ${JSON.stringify(today)}`;
  }
  if (typeof today !== 'object' || today === null) return `${place}: ${JSON.stringify(today)}`;
  if (Array.isArray(recorded) && recorded.length !== Object.keys(today).length) {
    return `${place} has another length`;
  }
  for (const [name, value] of Object.entries(recorded)) {
    const other = (today as Readonly<Record<string, unknown>>)[name];
    const loss = firstLoss(value, other, `${place}/${name}`);
    if (loss !== null) return loss;
  }
  return null;
}

const files = corpus();

test('every event in its current version has an example', () => {
  const missing = aggregates.flatMap((aggregate) =>
    Object.keys(aggregate.events)
      .map((type) => fileOf(aggregate, type))
      .filter((file) => !files.has(file)),
  );
  const help = 'packages/testkit/src/ledger/golden/write-golden.ts writes what is missing';
  assert.equal(missing, [], help);
});

for (const [file, golden] of files) {
  test(`${file} still folds to what it showed`, () => {
    const [name = ''] = file.split(/[\\/]/);
    const today = shownToday(aggregateOf(name), golden);
    assert.is(firstLoss(golden.shows, today, ''), null);
    assert.match(file, golden.events.at(-1)?.type ?? 'no event');
  });
}

test.run();
