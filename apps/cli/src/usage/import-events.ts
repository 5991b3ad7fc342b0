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
    if (rows.length === 0) return;
    const answer = await this.#send(`{"events":[${rows.map(({ text }) => text).join(',')}]}`);
    if (answer.status < 300) {
      this.#note(rows, answer.body as Accepted);
      return;
    }
    // Anything but a fault of events concerns all of them, such as a key without the right, or a backfill that has ended.
    const isOfEvents = answer.status === 413 || (answer.status === 400 && !isOfState(answer));
    if (!isOfEvents) bodyOf(answer);
    const faults = faultsIn(answer);
    const isFaulty = (_: Sent, index: number): boolean => faults.has(index);
    if (rows.some(isFaulty)) {
      for (const [index, row] of rows.entries()) {
        const error = faults.get(index);
        if (error !== undefined) this.#refuse(row, error);
      }
      await this.#record(rows.filter((row, index) => !isFaulty(row, index)));
    } else if (rows.length > 1) {
      // It does not say which: it is looked for.
      const middle = Math.ceil(rows.length / 2);
      await this.#record(rows.slice(0, middle));
      await this.#record(rows.slice(middle));
    } else if (rows[0]) {
      this.#refuse(rows[0], messageOf(answer));
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

  #note(rows: readonly Sent[], { accepted, repeated, conflicts }: Accepted): void {
    this.#recorded += accepted;
    this.#repeated += repeated;
    for (const { index, event_id } of conflicts) {
      const row = rows[index];
      if (row) this.#refuse(row, `another event has the event_id ${JSON.stringify(event_id)}`);
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

interface Accepted {
  readonly accepted: number;
  readonly repeated: number;
  readonly conflicts: readonly { readonly index: number; readonly event_id: string }[];
}

interface Refusal {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

const isOfState = ({ body }: ApiAnswer): boolean =>
  (body as Refusal | null)?.code === 'invalid_operation';

const messageOf = ({ status, body }: ApiAnswer): string =>
  (body as Refusal | null)?.message ?? `The API answered ${status}.`;

/** The faults that an answer names, by the number of the event in its bulk. */
function faultsIn({ body }: ApiAnswer): ReadonlyMap<number, string> {
  const faults = new Map<number, string>();
  for (const { pointer, message } of (body as Refusal | null)?.errors ?? []) {
    const [, index, field = ''] = /^\/events\/(\d+)(?:\/(.*))?$/.exec(pointer) ?? [];
    if (index === undefined) continue;
    const fault = field === '' ? message : `${field}: ${message}`;
    const others = faults.get(+index);
    faults.set(+index, others === undefined ? fault : `${others}; ${fault}`);
  }
  return faults;
}
