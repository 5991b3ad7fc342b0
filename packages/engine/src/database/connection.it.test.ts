import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startWorld, type TestWorld } from '../projection/test-world.ts';
import { type Connection, connect, transaction, transactionAtOnce } from './database.ts';

const test = suite('session of PostgreSQL');
let world: TestWorld;
let database: string;

test.before(async () => {
  world = await startWorld();
  database = await world.database();
});
test.after(() => world.close());

async function withSession(work: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await connect(database, { application: 'test' });
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}

const numbers = async (connection: Connection): Promise<unknown[]> =>
  (await connection.query<{ n: number }>('select n from numbers order by n')).rows.map(
    ({ n }) => n,
  );

test('statements that are handed over together run in order, and one that fails fails alone', () =>
  withSession(async (connection) => {
    const outcomes = await Promise.allSettled([
      connection.query('create temporary table numbers (n int primary key)'),
      connection.query('insert into numbers values ($1)', [1], { prepared: true }),
      connection.query('insert into numbers values ($1)', [1], { prepared: true }),
      connection.query('insert into numbers values ($1)', [2], { prepared: true }),
      connection.query('no statement'),
      connection.query('insert into numbers values (3)'),
    ]);
    assert.equal(
      outcomes.map(({ status }) => status === 'fulfilled'),
      [true, true, false, true, false, true],
    );
    assert.equal(await numbers(connection), [1, 2, 3]);
  }));

test('a transaction with statements under way together is whole or nothing', () =>
  withSession(async (connection) => {
    await connection.query('create temporary table numbers (n int primary key)');
    const insert = (n: number) => connection.query('insert into numbers values ($1)', [n]);
    await transaction(connection, () => Promise.all([insert(1), insert(2)]));
    const failing = transaction(connection, async () => {
      const ended = await Promise.allSettled([insert(3), insert(1), insert(4)]);
      assert.equal(
        ended.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      );
      throw new Error('given up');
    });
    assert.is(await failing.catch((error) => error.message), 'given up');
    assert.equal(await numbers(connection), [1, 2]);
  }));

test('a transaction in which somebody else had a statement fail is not taken for committed', () =>
  withSession(async (connection) => {
    await connection.query('create temporary table numbers (n int primary key)');
    const beside = transaction(connection, async () => {
      await connection.query('insert into numbers values (1)');
      await connection.query('no statement').catch(() => undefined);
    });
    assert.match(await beside.catch((error) => error.message), /was rolled back/);
    assert.equal(await numbers(connection), []);
  }));

test('what is read together with the begin of a transaction is known before it writes', () =>
  withSession(async (connection) => {
    await connection.query('create temporary table numbers (n int primary key)');
    await connection.query('insert into numbers values (1)');
    await transactionAtOnce(connection, async (begun) => {
      const known = await numbers(connection);
      await begun;
      await connection.query('insert into numbers values ($1)', [known.length + 1]);
    });
    assert.equal(await numbers(connection), [1, 2]);
    const failing = transactionAtOnce(
      connection,
      async (begun) => {
        await begun;
        await connection.query('insert into numbers values (3)');
      },
      'begin no transaction',
    );
    assert.is(await failing.catch((error) => error.code), '42601', 'a begin that fails');
    assert.equal(await numbers(connection), [1, 2], 'then nothing is written');
  }));

test('closing waits for no statement', async () => {
  const connection = await connect(database, { application: 'test' });
  const sleeping = connection.query('select pg_sleep(600)').catch((error) => error);
  await connection.close();
  assert.instance(await sleeping, Error);
});

test.run();
