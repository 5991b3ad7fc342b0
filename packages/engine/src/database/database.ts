import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Compilable } from 'kysely';
import { Client, type ClientConfig, type CustomTypesConfig, type QueryConfig, types } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

/** The schema that holds everything of ours, so that one database can be shared with others. */
export const schemaName = 'counterfoil';

/** Type numbers of Postgres whose text we do not leave to the driver. */
const oid = { boolean: 16, int2: 21, int4: 23, textArray: 1009, timestamptz: 1184 } as const;
const parsedByDriver: readonly number[] = [oid.boolean, oid.int2, oid.int4, oid.textArray];

/**
 * The form in which values arrive: int8, numeric, json and jsonb as their text (a JavaScript number
 * or a re-ordered object would not be what was stored), timestamptz as RFC 3339 with milliseconds.
 * It is handed over with every query, so that a pool of the caller keeps its own parsers.
 */
export const exactTypes: CustomTypesConfig = {
  getTypeParser: (id, format) => {
    if (format === 'binary') return types.getTypeParser(id, format);
    if (id === oid.timestamptz) return instantOf;
    return parsedByDriver.includes(id) ? types.getTypeParser(id, 'text') : (text: string) => text;
  },
};

const timestamptzShape = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/;

/** RFC 3339 of the text that Postgres gives for a timestamptz in a session that is set to UTC. */
export function instantOf(text: string): string {
  const [, date, time, fraction = ''] = timestamptzShape.exec(text) ?? [];
  if (!date || !time) throw new RangeError(`${text} is not an instant in UTC`);
  return `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

/** Settings of every session of ours, in place before the first statement. */
export const sessionSettings = '-c TimeZone=UTC -c DateStyle=ISO';

export interface QueryResult<Row> {
  readonly rows: readonly Row[];
  readonly count: number;
}

export interface StatementOptions {
  /** Keeps the statement prepared in the session: for texts of which there are few. */
  readonly prepared?: boolean;
  /** Without an answer within so many milliseconds (0: no limit) the session counts as lost. */
  readonly timeoutMs?: number;
}

/**
 * One Postgres session that is used by one owner only. Statements run in the order in which they were handed over.
 * They are sent at once, so that those that do not wait for each other share a round trip; each fails by itself.
 */
export interface Connection {
  /** Runs one statement that a builder has written. */
  run<Row>(statement: Compilable<Row>, options?: StatementOptions): Promise<QueryResult<Row>>;
  /** Runs one statement that no builder can write; the caller vouches for the type of its rows. */
  query<Row>(
    text: string,
    values?: readonly unknown[],
    options?: StatementOptions,
  ): Promise<QueryResult<Row>>;
  /**
   * Runs a `copy … from stdin` and sends it the texts of the rows, many in each, in a session that was opened for
   * copies (`copies`) and that nothing else uses meanwhile.
   */
  copy(text: string, chunks: Iterable<string>): Promise<void>;
  /** Aborts, with the reason, when the session is gone. */
  readonly lost: AbortSignal;
  onNotification(listener: (channel: string, payload: string) => void): void;
  close(): Promise<void>;
}

interface ConnectOptions {
  /** Shown in pg_stat_activity. */
  readonly application: string;
  /** Told after each statement: whether it was the end of a transaction, or one by itself. */
  readonly onStatement?: (isCommit: boolean) => void;
  /** True for a session that copies: its owner sends one statement after the other, each after the answer to the last. */
  readonly copies?: boolean;
}

const connectTimeoutMs = 5_000;
const defaultQueryTimeoutMs = 120_000;

/**
 * Opens a session of its own on the database of a connection string. Rejects when Postgres cannot be
 * reached. A session that breaks later aborts `lost` and fails every statement; it never throws into
 * the void.
 */
export async function connect(url: string, options: ConnectOptions): Promise<Connection> {
  const config: PipelinedClient = {
    connectionString: url,
    application_name: options.application,
    options: sessionSettings,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    // The driver cannot copy over a session that sends ahead.
    pipeline: options.copies !== true,
  };
  const client = new Client(config);
  // Without a listener the driver's error event would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return connectionOf(client, options.onStatement);
}

/** The driver sends statements without waiting for the answers before, and takes a time-out with each; its types do not say so. */
type PipelinedClient = ClientConfig & { readonly pipeline: boolean };
type TimedQuery = QueryConfig & { query_timeout?: number };

function connectionOf(client: Client, onStatement: ConnectOptions['onStatement']): Connection {
  const loss = new AbortController();
  const lose = (reason: unknown) => {
    if (!loss.signal.aborted) {
      loss.abort(reason instanceof Error ? reason : new Error('The database session has ended.'));
    }
  };
  client.on('error', lose);
  client.on('end', () => lose(undefined));
  let closing: Promise<void> | null = null;
  let underWay = 0;
  let isInTransaction = false;
  const count = (text: string): void => {
    if (text.startsWith('begin')) isInTransaction = true;
    else if (text === 'commit' || text === 'rollback') isInTransaction = false;
    onStatement?.(!isInTransaction && text !== 'rollback');
  };
  const closeOnce = (): Promise<void> => {
    closing ??= client.end().catch(() => undefined);
    // The driver would wait for the answers, and a server that hangs gives none.
    if (underWay > 0) client.connection.stream.destroy();
    return closing;
  };
  const query = async <Row>(
    text: string,
    values: readonly unknown[] = [],
    { prepared = false, timeoutMs = defaultQueryTimeoutMs }: StatementOptions = {},
  ): Promise<QueryResult<Row>> => {
    if (loss.signal.aborted) throw loss.signal.reason;
    try {
      const config: TimedQuery = { text, values: [...values], types: exactTypes };
      config.query_timeout = timeoutMs;
      if (prepared) config.name = preparedName(text);
      underWay += 1;
      const result = await client.query(config).finally(() => {
        underWay -= 1;
      });
      count(text);
      if (text === 'commit' && result.command !== 'COMMIT') throw rolledBack();
      return { rows: result.rows as Row[], count: result.rowCount ?? 0 };
    } catch (error) {
      if (isReadTimeout(error)) {
        // The answer may still come, to the wrong question: this session is of no more use.
        lose(error);
        void closeOnce();
      }
      throw error;
    }
  };
  const copy = async (text: string, chunks: Iterable<string>): Promise<void> => {
    if (loss.signal.aborted) throw loss.signal.reason;
    // The loss of the session ends it too: the driver tells an error to queries alone.
    await pipeline(Readable.from(chunks), client.query(copyFrom(text)), { signal: loss.signal });
    count(text);
  };
  return {
    lost: loss.signal,
    copy,
    onNotification: (listener) => {
      client.on('notification', ({ channel, payload = '' }) => listener(channel, payload));
    },
    close: closeOnce,
    query,
    run: (statement, options) => {
      const { sql, parameters } = statement.compile();
      return query(sql, parameters, options);
    },
  };
}

/** The names that were given, so that a text is hashed once. There are few texts. */
const preparedNames = new Map<string, string>();

/** One name for one text for ever, as the session demands. */
export function preparedName(text: string): string {
  const known = preparedNames.get(text);
  if (known !== undefined) return known;
  const name = hash('sha256', text, 'base64url');
  preparedNames.set(text, name);
  return name;
}

/** Postgres answers the commit of a transaction in which something has failed as if it were asked to roll back. */
const rolledBack = (): Error =>
  new Error('The transaction was rolled back: a statement in it failed.');

const isReadTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout';

/** Runs `work` between begin and commit; rolls back when it throws. */
export const transaction = <Result>(
  connection: Connection,
  work: () => Promise<Result>,
  begin = 'begin',
): Promise<Result> =>
  transactionAtOnce(
    connection,
    async (begun) => {
      await begun;
      return work();
    },
    begin,
  );

/**
 * As `transaction`, but `work` starts at once, so that what it reads travels together with the begin. It must not write
 * before `begun` has resolved: after a begin that failed, each statement would be a transaction of its own. It
 * must not end before all its statements have: one that is sent later would fall into the next transaction.
 */
export async function transactionAtOnce<Result>(
  connection: Connection,
  work: (begun: Promise<unknown>) => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  const begun = connection.query(begin);
  // Whether or not the work looks at it.
  begun.catch(() => undefined);
  try {
    const result = await work(begun);
    await connection.query('commit');
    return result;
  } catch (error) {
    await connection.query('rollback').catch(() => undefined);
    throw error;
  }
}
