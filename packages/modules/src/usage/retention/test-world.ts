import { transaction } from '@counterfoil/engine';
import { Problem } from '@counterfoil/kernel';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as fc from 'fast-check';
// biome-ignore lint/correctness/noUndeclaredDependencies: only tests import this file.
import * as assert from 'uvu/assert';
import { RollUps } from '../roll-ups/roll-ups.ts';
import { foldedAnswer } from '../roll-ups/test-fold.ts';
import { environmentId, histories, type LogItem, questions } from '../roll-ups/test-histories.ts';
import { aboutGroupings, aboutMeters, assertSame, storedIn } from '../roll-ups/test-questions.ts';
import type { TestDatabase, TestTables } from '../roll-ups/test-tables.ts';
import { comparedUsage } from '../table-definitions.ts';
import { UsageFiller } from '../usage-filler.ts';
import { usageOf } from '../usage-query.ts';
import type { UsageQuestion } from '../usage-question.ts';
import { usageParts } from './parts.ts';
import { refillMonth } from './refill-month.ts';

const smallPiece = { events: 3, accounts: 2 };

/** Tables whose months are dropped and filled again, beside plain ones that keep everything. */
export class World {
  readonly tables: TestTables;
  readonly plain: TestTables;
  readonly #filler: UsageFiller;
  readonly #plainFiller: UsageFiller;
  readonly #taken: LogItem[] = [];
  refused = 0;
  exact = 0;
  drops = 0;
  refills = 0;

  readonly #database: TestDatabase;

  constructor(database: TestDatabase, tables: TestTables, plain: TestTables) {
    this.#database = database;
    this.tables = tables;
    this.plain = plain;
    this.#filler = new UsageFiller(tables.session, new RollUps(tables.session, smallPiece));
    this.#plainFiller = new UsageFiller(plain.session);
  }

  static async make(database: TestDatabase, name: string): Promise<World> {
    const tables = await database.tables(`${name}_a`);
    return new World(database, tables, await database.tables(`${name}_plain`));
  }

  async end(): Promise<void> {
    await this.tables.drop();
    await this.plain.drop();
  }

  async take(items: readonly LogItem[]): Promise<void> {
    this.#taken.push(...items);
    await this.#filler.take(items);
    await this.#plainFiller.take(items);
  }

  tend = (): Promise<void> => this.#filler.tend();

  async complete(): Promise<void> {
    for (const filler of [this.#filler, this.#plainFiller]) {
      while (filler.hasMore) await filler.tend();
    }
  }

  months = () => usageParts.list(this.tables.session);

  /** Drops a month, or fills it again; what cannot be done yet is left. */
  async toggle(which: number, preparedOf: number): Promise<void> {
    const months = await this.months();
    const month = months[which % months.length];
    if (!month) return;
    if (month.isDropped) await this.refill(month.name, preparedOf);
    else await this.drop(month.name);
  }

  async drop(month: string, session = this.tables.session): Promise<void> {
    await transaction(this.#database.writer, async () => {
      if (await usageParts.drop(session, month)) this.drops += 1;
    });
    this.#filler.forget();
  }

  /** Prepares a month from a beginning of the log, and lets readers see it when the rest has come. */
  async refill(month: string, preparedOf: number, session = this.tables.session): Promise<void> {
    const made = await this.#database.tables(`${this.tables.session.schema}_refill`);
    try {
      const filler = usageParts.refiller(made.session, [month]);
      const length = preparedOf % (this.#taken.length + 1);
      const fill = async (items: readonly LogItem[]): Promise<void> => {
        await filler.take(items);
        while (filler.hasMore) await filler.tend?.();
      };
      await fill(this.#taken.slice(0, length));
      const { schema } = made.session;
      await usageParts.prepare(session, schema, month);
      await fill(this.#taken.slice(length));
      const beside = { schema, preparedUpTo: positionOf(this.#taken[length - 1]) };
      await transaction(this.#database.writer, async () => {
        if (await refillMonth(session, beside, month, 0)) this.refills += 1;
      });
      this.#filler.forget();
    } finally {
      await made.drop();
    }
  }

  /** The answers are those of a fold over all events, or say that some of these are dropped. */
  async assertAnswers(asked: readonly UsageQuestion[]): Promise<void> {
    const stored = await storedIn(this.plain);
    const dropped = (await this.months()).flatMap((one) => (one.isDropped ? one.name : []));
    for (const question of asked) {
      const expected = foldedAnswer(stored, question);
      const answer = await answerOf(this.tables, question);
      if (answer instanceof Problem) {
        assert.is(answer.details?.reason, 'no_longer_kept', answer.message);
        const months = answer.details?.months as readonly string[];
        assert.ok(
          months.length > 0 && months.every((month) => dropped.includes(month)),
          `${answer.message} of ${dropped}`,
        );
        this.refused += 1;
      } else {
        assert.equal(answer, expected, JSON.stringify(question));
        if (dropped.length > 0) this.exact += 1;
      }
    }
  }

  /** The tables say what the log says, but for the events of dropped months. */
  async assertVerified(): Promise<void> {
    const [made, shown] = [this.plain.session.schema, this.tables.session.schema];
    const months = await this.months();
    const kept = months.filter(({ isDropped }) => !isDropped).map(({ relation }) => relation);
    for (const [table, select] of Object.entries(comparedUsage)) {
      for (const relation of table === 'event' ? [...kept, 'event_other'] : [table]) {
        const [log, seen] = [select(made, shown, relation), select(shown, shown, relation)];
        for (const [some, others] of [
          [log, seen],
          [seen, log],
        ]) {
          const { rows } = await this.#database.writer.query(`(${some}) except all (${others})`);
          assert.equal(rows, [], relation);
        }
      }
    }
  }
}

const positionOf = (item: LogItem | undefined): string => {
  if (!item) return '0';
  return item.kind === 'facts' ? item.position : item.event.position;
};

export async function answerOf(tables: TestTables, question: UsageQuestion) {
  try {
    const { eventsCounted: _, ...answer } = await usageOf(tables.context(environmentId), question);
    return answer;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

async function live(
  world: World,
  log: readonly LogItem[],
  choices: Generator<number, never>,
  asked: readonly UsageQuestion[],
): Promise<void> {
  const next = (): number => choices.next().value;
  let rest = log;
  while (rest.length > 0) {
    const length = 1 + (next() % 4);
    await world.take(rest.slice(0, length));
    rest = rest.slice(length);
    for (let pieces = next() % 4; pieces > 0; pieces -= 1) await world.tend();
    if (next() % 3 === 0) {
      // A measure that is still being completed is in the way.
      if (next() % 3 > 0) await world.complete();
      await world.toggle(next(), next());
    }
    const question = asked[next() % (asked.length * 2)];
    if (question) await world.assertAnswers([question]);
  }
  await world.complete();
}

function* repeated(choices: readonly number[]): Generator<number, never> {
  for (;;) yield* choices;
}

/** Runs histories in which months go and come back. */
export async function assertHistories(database: TestDatabase, numRuns: number): Promise<void> {
  const seen = { refused: 0, exact: 0, drops: 0, refills: 0 };
  const run = fc.asyncProperty(
    histories,
    fc.array(questions, { minLength: 6, maxLength: 10 }),
    fc.array(fc.nat({ max: 97 }), { minLength: 20, maxLength: 60 }),
    async (log, ownQuestions, choices) => {
      const about = [...aboutMeters(log, ownQuestions), ...aboutGroupings(log, ownQuestions)];
      const asked = [...ownQuestions, ...about];
      const world = await World.make(database, 'dropped');
      try {
        await live(world, log, repeated(choices), asked);
        await world.assertAnswers(asked);
        await world.assertVerified();
        for (const { name, isDropped } of await world.months()) {
          if (isDropped) await world.refill(name, choices[0] ?? 0);
        }
        assert.ok((await world.months()).every(({ isDropped }) => !isDropped));
        await assertSame(world.tables, world.plain);
        const { refused } = world;
        await world.assertAnswers(asked);
        assert.is(world.refused, refused, 'all is there again');
        for (const key of ['refused', 'exact', 'drops', 'refills'] as const) {
          seen[key] += world[key];
        }
      } finally {
        await world.end();
      }
    },
  );
  await fc.assert(run, { numRuns, endOnFailure: true, includeErrorInReport: true });
  for (const [key, times] of Object.entries(seen)) assert.ok(times > 0, `${key} never happened`);
}
