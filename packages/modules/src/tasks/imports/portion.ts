import { importLimits } from '../limits.ts';
import type { ImportTask } from '../task/task.ts';
import { type BulkAnswer, BulkRefused, recordEvents, withEventId } from './bulk.ts';
import type { FileRow } from './file-row.ts';
import { importKinds } from './kinds.ts';
import type { ImportPorts, RowRequest } from './ports.ts';
import { retyped } from './rows.ts';

/** A row that was not carried out, as it is downloaded (D82). */
export interface BadRow {
  readonly line: number;
  readonly error: string;
  readonly row: unknown;
}

/** The key of the import is not there any more, or may not do what its rows ask for. */
export class NoRight extends Error {
  override readonly name = 'NoRight';
}

/** A row with its number in the file, counted from 1, of which its key is made. */
interface Numbered {
  readonly row: Extract<FileRow, { kind: 'row' }>;
  readonly number: number;
  readonly text: string;
}

/** The answers that say nothing of the request: the same is tried again. */
const isNoAnswer = ({ status }: BulkAnswer): boolean => status >= 500 || status === 429;
/** The service is away, and comes back. Anything else of 500 and above is a fault that stays. */
const isAway = ({ status }: BulkAnswer): boolean => status === 503 || status === 429;

interface RefusalBody {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

const refusalOf = ({ body }: BulkAnswer): RefusalBody => (body ?? {}) as RefusalBody;

/**
 * Carries out some rows of an import, of which so many come before. Gives those that were refused, in their order; null where the
 * run is to stop before all have their answer. Throws `NoRight`.
 */
export async function carryOutPortion(
  task: ImportTask,
  rows: readonly FileRow[],
  before: number,
  ports: ImportPorts,
): Promise<readonly BadRow[] | null> {
  const faults: BadRow[] = [];
  const good: Numbered[] = [];
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'row') good.push({ row, number: before + index + 1, text: row.text });
    else faults.push({ line: row.line, error: row.error, row: row.row });
  }
  const portion = new Portion(task, ports);
  const refused =
    task.entity_type === 'EVENTS' ? await portion.events(good) : await portion.records(good);
  return refused && [...faults, ...refused].toSorted((left, right) => left.line - right.line);
}

class Portion {
  readonly #task: ImportTask;
  readonly #ports: ImportPorts;

  constructor(task: ImportTask, ports: ImportPorts) {
    this.#task = task;
    this.#ports = ports;
  }

  /** Records usage events, bulk after bulk. */
  async events(rows: readonly Numbered[]): Promise<BadRow[] | null> {
    const { id } = this.#task;
    const refused: BadRow[] = [];
    for (const bulk of bulksOf(rows)) {
      // Events without an id get one of the task and their number, the same at every attempt.
      const sent = bulk.map(({ row, number, text }) => ({
        row,
        text: withEventId(text, row.row, `${id}-${number}`),
      }));
      try {
        const outcome = await recordEvents(sent, (body) => this.#sendEvents(body));
        refused.push(...outcome.refused.map(({ row, error }) => badRow(row.row, error)));
      } catch (error) {
        if (error instanceof Stopped) return null;
        if (error instanceof BulkRefused) throw new NoRight(error.message);
        throw error;
      }
    }
    return refused;
  }

  async #sendEvents(body: string): Promise<BulkAnswer> {
    const request = { operation: importKinds.EVENTS.operation, params: {}, query: {}, body };
    const answer = await this.#answerTo({ ...request, key: null });
    // A fault that stays is looked for among the events.
    return isNoAnswer(answer) ? { ...answer, status: 400 } : answer;
  }

  /** Carries out rows of which each is a request, those that need not wait for each other at once. */
  async records(rows: readonly Numbered[]): Promise<BadRow[] | null> {
    const refused: BadRow[] = [];
    try {
      for (const lanes of lanesOf(rows, importKinds[this.#task.entity_type].orderOf)) {
        await inParallel(lanes, async (lane) => {
          for (const row of lane) {
            const error = await this.#record(row);
            if (error !== null) refused.push(badRow(row.row, error));
          }
        });
      }
    } catch (error) {
      if (error instanceof Stopped) return null;
      throw error;
    }
    return refused;
  }

  /** Carries out a row. Gives the reason for a refusal. */
  async #record({ row, number, text }: Numbered): Promise<string | null> {
    const { id, entity_type, file_type, on_existing } = this.#task;
    const request = (body: string): RowRequest => ({
      operation: importKinds[entity_type].operation,
      params: { id },
      query: { on_existing },
      body,
      key: `row-${number}`,
    });
    const answer = await this.#answerTo(request(text));
    if (answer.status < 300) return null;
    const { message = '', errors = [] } = refusalOf(answer);
    const faulty = errors.map(({ pointer }) => pointer);
    const other = file_type === 'CSV' && answer.status === 400 ? retyped(row.row, faulty) : null;
    if (other === null) return messageWith(message, errors);
    const again = await this.#answerTo(request(other));
    if (again.status < 300) return null;
    const { message: last = message, errors: left = [] } = refusalOf(again);
    return messageWith(last, left);
  }

  /**
   * The answer to a request. While the service is away it is asked again, until the run is to stop; a fault that stays is the
   * answer after some attempts.
   */
  async #answerTo(request: RowRequest): Promise<BulkAnswer> {
    const { send, pause, signal } = this.#ports;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await send(request);
      if (answer.status === 401 || answer.status === 403) {
        throw new NoRight(refusalOf(answer).message ?? 'The API key has no right to do this.');
      }
      if (!isNoAnswer(answer)) return answer;
      if (!isAway(answer) && attempt >= importLimits.attempts) return answer;
      if (signal.aborted) throw new Stopped();
      await pause(attempt);
    }
  }
}

/** The run is to stop before an answer is there. */
class Stopped extends Error {}

const badRow = ({ line, row }: Numbered['row'], error: string): BadRow => ({ line, error, row });

/** The faults of a row, for people: the sentence, and of several each with its place. */
function messageWith(message: string, errors: NonNullable<RefusalBody['errors']>): string {
  if (errors.length < 2) return message;
  return errors.map((each) => `${each.pointer.slice(1)}: ${each.message}`).join('; ');
}

/** The rows in bulks that the API takes. */
function* bulksOf(rows: readonly Numbered[]): Generator<readonly Numbered[]> {
  let bulk: Numbered[] = [];
  let characters = 0;
  for (const row of rows) {
    const isFull =
      bulk.length >= importLimits.bulkEvents ||
      characters + row.text.length > importLimits.bulkCharacters;
    if (isFull && bulk.length > 0) {
      yield bulk;
      bulk = [];
      characters = 0;
    }
    bulk.push(row);
    characters += row.text.length;
  }
  if (bulk.length > 0) yield bulk;
}

/**
 * The rows in groups that follow each other; of each group the lanes, which go beside each other, each in its order. A row
 * that depends on what stands before it is a group by itself.
 */
function* lanesOf(
  rows: readonly Numbered[],
  orderOf: (row: Numbered['row']['row']) => string | null,
): Generator<readonly (readonly Numbered[])[]> {
  let lanes = new Map<string, Numbered[]>();
  for (const row of rows) {
    const order = orderOf(row.row.row);
    if (order !== null) {
      lanes.set(order, [...(lanes.get(order) ?? []), row]);
      continue;
    }
    if (lanes.size > 0) yield [...lanes.values()];
    lanes = new Map();
    yield [[row]];
  }
  if (lanes.size > 0) yield [...lanes.values()];
}

/** Works on things, some at once. The first failure is thrown once nothing is under way any more. */
async function inParallel<Thing>(
  things: readonly Thing[],
  work: (thing: Thing) => Promise<void>,
): Promise<void> {
  const waiting = things.values();
  const lane = async (): Promise<void> => {
    for (const thing of waiting) await work(thing);
  };
  const lanes = Array.from({ length: importLimits.atOnce }, lane);
  const ended = await Promise.allSettled(lanes);
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
}
