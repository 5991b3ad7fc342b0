import { BulkRefused, recordEvents } from '@counterfoil/modules';
import type { ApiAnswer } from '../http-api.ts';
import { bodyOf } from '../http-api.ts';
import { OperatorError } from '../settings.ts';
import type { EventRow } from './event-rows.ts';

type Sent = Extract<EventRow, { kind: 'event' }>;

/** A line that was not recorded. */
export interface RefusedLine {
  /** Counted from 1, with the header. */
  readonly line: number;
  readonly error: string;
  readonly row: unknown;
}

/** The counts of an import so far. */
export interface ImportCounts {
  readonly lines: number;
  readonly recorded: number;
  /** Events that were there already, from an earlier run for instance. */
  readonly repeated: number;
  readonly refused: number;
}

export interface ImportTools {
  /** Sends a bulk, given as JSON. Throws `OperatorError` when nobody answers. */
  readonly send: (body: string) => Promise<ApiAnswer>;
  /** Waits before a request is repeated. */
  readonly pause: () => Promise<unknown>;
  readonly onRefused: (line: RefusedLine) => void;
  readonly onProgress: (counts: ImportCounts) => void;
}

/** Events and characters of one request: far less than the API takes. */
const bulk = { events: 1_000, characters: 8 * 1024 * 1024 } as const;
/** Requests that are sent again, without an answer in between that is of use, before an import gives up. */
const attemptsMaximum = 60;

/**
 * Sends the events of a file, bulk after bulk, in their order. A line that is refused is told and left out. A bulk
 * without an answer is sent again: event ids make that harmless, and so they do for the whole file. Throws
 * `OperatorError` when the service stays away, or refuses everything.
 */
export async function importEvents(
  rows: AsyncIterable<EventRow>,
  tools: ImportTools,
): Promise<ImportCounts> {
  const run = new Import(tools);
  for await (const row of rows) await run.take(row);
  return run.end();
}

class Import {
  readonly #tools: ImportTools;
  #waiting: Sent[] = [];
  #characters = 0;
  #lines = 0;
  #recorded = 0;
  #repeated = 0;
  #refused = 0;

  constructor(tools: ImportTools) {
    this.#tools = tools;
  }

  async take(row: EventRow): Promise<void> {
    this.#lines += 1;
    if (row.kind === 'fault') {
      this.#refuse(row, row.error);
      return;
    }
    const isFull =
      this.#waiting.length >= bulk.events || this.#characters + row.text.length > bulk.characters;
    if (isFull) await this.#flush();
    this.#waiting.push(row);
    this.#characters += row.text.length;
  }

  async end(): Promise<ImportCounts> {
    await this.#flush();
    return this.#counts();
  }

  async #flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#characters = 0;
    await this.#record(rows);
    this.#tools.onProgress(this.#counts());
  }

  /** Records what can be recorded of some events. */
  async #record(rows: readonly Sent[]): Promise<void> {
    try {
      const outcome = await recordEvents(rows, (body) => this.#send(body));
      this.#recorded += outcome.recorded;
      this.#repeated += outcome.repeated;
      for (const { row, error } of outcome.refused) this.#refuse(row, error);
    } catch (error) {
      if (error instanceof BulkRefused) bodyOf(error.answer);
      throw error;
    }
  }

  /** The answer, once there is one that is final. */
  async #send(body: string): Promise<ApiAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#tools.send(body).catch((error: unknown) => {
        if (error instanceof OperatorError && attempt < attemptsMaximum) return null;
        throw error;
      });
      const isFinal = answer !== null && answer.status < 500 && answer.status !== 429;
      if (isFinal) return answer;
      if (answer !== null && attempt >= attemptsMaximum) {
        throw new OperatorError(`${messageOf(answer)} Import the file again to go on.`);
      }
      await this.#tools.pause();
    }
  }

  #refuse({ line, row }: Pick<EventRow, 'line' | 'row'>, error: string): void {
    this.#refused += 1;
    this.#tools.onRefused({ line, error, row });
  }

  #counts(): ImportCounts {
    return {
      lines: this.#lines,
      recorded: this.#recorded,
      repeated: this.#repeated,
      refused: this.#refused,
    };
  }
}

const messageOf = ({ status, body }: ApiAnswer): string =>
  (body as { readonly message?: string } | null)?.message ?? `The API answered ${status}.`;
