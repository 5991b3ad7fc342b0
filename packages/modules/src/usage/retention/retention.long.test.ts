import { suite } from 'uvu';
import { startTestDatabase, type TestDatabase } from '../roll-ups/test-tables.ts';
import { assertHistories } from './test-world.ts';

const test = suite('months that are dropped and come back, often');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

test('whatever is dropped, an answer is that of a fold over all events, or says what it lacks', () =>
  assertHistories(database, 400));

test.run();
