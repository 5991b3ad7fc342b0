import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { modelOf } from '../backfills/test-model.ts';
import { filteredReadings } from '../groupings/filtered-readings.ts';
import { UsageFiller } from '../usage-filler.ts';
import { usageOf } from '../usage-query.ts';
import type { UsageQuestion } from '../usage-question.ts';
import { hourOf } from './hours.ts';
import { rolledUpReadings } from './readings.ts';
import { RollUps } from './roll-ups.ts';
import { foldedAnswer, type StoredUsage } from './test-fold.ts';
import { environmentId, histories, type LogItem, questions, recordedIn } from './test-histories.ts';
import { aboutGroupings, aboutMeters, assertSame, storedIn } from './test-questions.ts';
import { startTestDatabase, type TestDatabase, type TestTables } from './test-tables.ts';

const test = suite('roll-ups');

let database: TestDatabase;
test.before(async () => {
  database = await startTestDatabase();
});
test.after(() => database.close());

/** Few events and accounts, so that the past of a measure takes many pieces. */
const smallPiece = { events: 3, accounts: 2 };

/** Numbers from 0 on, which say how a history is cut and what is done in between. */
type Choices = Generator<number, never>;

function* repeated(choices: readonly number[]): Choices {
  for (;;) yield* choices;
}

async function assertAnswers(tables: TestTables, asked: readonly UsageQuestion[]): Promise<void> {
  const stored = await storedIn(tables);
  for (const question of asked) {
    const { eventsCounted: _, ...answer } = await usageOf(tables.context(environmentId), question);
    assert.equal(answer, foldedAnswer(stored, question), JSON.stringify(question));
  }
}

/** Counts an hour of an account again, which changes nothing. */
async function recountSome(tables: TestTables, rollUps: RollUps, choice: number): Promise<void> {
  const { session } = tables;
  const { rows } = await session.query<{
    environment: number;
    account: string;
    name: string;
    at: StoredUsage['at'];
  }>(
    `select event.environment, account, event_name.name, at from ${session.schema}.event
       join ${session.schema}.event_name on event_name.number = event.name
      order by position, event.number limit 1 offset $1`,
    [choice],
  );
  const [row] = rows;
  if (!row) return;
  const { environment, account, name: eventName, at } = row;
  await rollUps.recount({ environment, account, eventName, hour: hourOf(at) });
}

/** Fills tables from a log, cut anywhere, with pieces of other work and questions in between. */
async function fill(
  tables: TestTables,
  log: readonly LogItem[],
  choices: Choices,
  asked: readonly UsageQuestion[],
): Promise<void> {
  const rollUps = new RollUps(tables.session, smallPiece);
  const filler = new UsageFiller(tables.session, rollUps);
  let rest = log;
  while (rest.length > 0) {
    const length = 1 + (choices.next().value % 4);
    await filler.take(rest.slice(0, length));
    rest = rest.slice(length);
    const kind = choices.next().value % 6;
    if (kind === 0) filler.forget();
    for (let pieces = choices.next().value % 4; pieces > 0; pieces -= 1) await filler.tend();
    if (kind === 1) await recountSome(tables, rollUps, choices.next().value);
    const question = asked[choices.next().value % (asked.length * 2)];
    if (question) await assertAnswers(tables, [question]);
  }
  while (filler.hasMore) await filler.tend();
}

/** Asserts that all that was voided is among the void events, and none of it among those that count. */
async function assertVoided({ session }: TestTables, log: readonly LogItem[]): Promise<void> {
  const right = recordedIn<{ readonly event_id: string }>(log, 'UsageVoided').map(
    ({ event_id }) => event_id,
  );
  const { rows } = await session.query<{ event_id: string; counts: boolean }>(
    `select event_id, false as counts from ${session.schema}.voided
     union all select event_id, true from ${session.schema}.event where event_id = any($1)`,
    [right],
  );
  assert.equal(
    rows.filter(({ counts }) => counts),
    [],
  );
  assert.equal(rows.map(({ event_id }) => event_id).sort(), right.sort());
}

/** Asserts that each backfill has come to what a plain model says, and that all usage counts which it lets count. */
async function assertBackfills({ session }: TestTables, log: readonly LogItem[]): Promise<void> {
  const { schema } = session;
  const { known, backfills } = modelOf(log);
  const stored = await session.query<{ event_id: string }>(
    `select event_id from ${schema}.event union all select event_id from ${schema}.voided`,
  );
  assert.equal(stored.rows.map(({ event_id }) => event_id).sort(), known);
  const { rows } = await session.query<{ id: string }>(
    `select id, status, waiting, counted, repeated, refused,
            (select count(*)::int from ${schema}.waiting_event where backfill = backfill.number) as kept,
            (select count(*)::int from ${schema}.refused_event where backfill = backfill.number) as listed
       from ${schema}.backfill`,
  );
  const expected = [...backfills].map(([id, { waiting, ...figures }]) => {
    const { size } = waiting;
    return { id, ...figures, waiting: size, kept: size, listed: figures.refused };
  });
  assert.equal(
    new Map(rows.map((row) => [row.id, row])),
    new Map(expected.map((row) => [row.id, row])),
  );
}

test('whatever is kept, the answer is that of a fold over all events', async () => {
  let runs = 0;
  let rolledUp = 0;
  let fromGroups = 0;
  const run = fc.asyncProperty(
    histories,
    fc.array(questions, { minLength: 6, maxLength: 12 }),
    fc.array(fc.nat({ max: 97 }), { minLength: 20, maxLength: 60 }),
    async (log, ownQuestions, choices) => {
      runs += 1;
      const about = [...aboutMeters(log, ownQuestions), ...aboutGroupings(log, ownQuestions)];
      const asked = [...ownQuestions, ...about];
      const first = await database.tables(`usage_${runs}_a`);
      const again = await database.tables(`usage_${runs}_b`);
      try {
        await fill(first, log, repeated(choices), asked);
        await assertAnswers(first, asked);
        await assertVoided(first, log);
        await assertBackfills(first, log);
        await fill(again, log, repeated([...choices].reverse()), []);
        await assertSame(first, again);
        await assertAnswers(again, asked);
        for (const question of asked) {
          const context = again.context(environmentId);
          const readings = await rolledUpReadings(context, question, question.span);
          if (readings !== null) rolledUp += 1;
          else if (await filteredReadings(context, question, question.span)) fromGroups += 1;
        }
      } finally {
        await first.drop();
        await again.drop();
      }
    },
  );
  await fc.assert(run, { numRuns: 25, endOnFailure: true, includeErrorInReport: true });
  assert.ok(rolledUp > 0, 'no answer came from roll-ups');
  assert.ok(fromGroups > 0, 'no answer came from sums by a property');
});

test.run();
