/** An answer of the API, in process or over HTTP. */
export interface BulkAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** The outcome of recording some events. */
export interface BulkOutcome<Row> {
  readonly recorded: number;
  /** Events that were there already. */
  readonly repeated: number;
  readonly refused: readonly { readonly row: Row; readonly error: string }[];
}

/** The refusal of all events together, whatever they are, such as that a key has not the right. */
export class BulkRefused extends Error {
  override readonly name = 'BulkRefused';
  readonly answer: BulkAnswer;
  constructor(answer: BulkAnswer) {
    super(messageOf(answer));
    this.answer = answer;
  }
}

/** The text of an event with an id, where it has none. It is put at the end: of two members with one name the last counts. */
export function withEventId(text: string, row: object, id: string): string {
  const given: unknown = Reflect.get(row, 'event_id');
  if (given !== undefined && given !== null) return text;
  const comma = Object.keys(row).length > 0 ? ',' : '';
  return `${text.slice(0, -1)}${comma}"event_id":${JSON.stringify(id)}}`;
}

/**
 * Records events by `POST /events/bulk`, or by what answers like it. Those that are refused are left out, and the others sent
 * again. Throws `BulkRefused` where no event is at fault.
 */
export async function recordEvents<Row extends { readonly text: string }>(
  rows: readonly Row[],
  send: (body: string) => Promise<BulkAnswer>,
): Promise<BulkOutcome<Row>> {
  if (rows.length === 0) return { recorded: 0, repeated: 0, refused: [] };
  const answer = await send(`{"events":[${rows.map(({ text }) => text).join(',')}]}`);
  if (answer.status < 300) return acceptedOf(rows, answer.body as Accepted);
  // Anything but a fault of events concerns all of them, such as a backfill that has ended.
  const isOfEvents = answer.status === 413 || (answer.status === 400 && !isOfState(answer));
  if (!isOfEvents) throw new BulkRefused(answer);
  const faults = faultsIn(answer);
  const refused = rows.flatMap((row, index) => {
    const error = faults.get(index);
    return error === undefined ? [] : [{ row, error }];
  });
  if (refused.length > 0) {
    const others = rows.filter((_, index) => !faults.has(index));
    return together({ recorded: 0, repeated: 0, refused }, await recordEvents(others, send));
  }
  const [only] = rows;
  if (rows.length === 1 && only) {
    return { recorded: 0, repeated: 0, refused: [{ row: only, error: messageOf(answer) }] };
  }
  // It does not say which: it is looked for.
  const middle = Math.ceil(rows.length / 2);
  const first = await recordEvents(rows.slice(0, middle), send);
  return together(first, await recordEvents(rows.slice(middle), send));
}

const together = <Row>(left: BulkOutcome<Row>, right: BulkOutcome<Row>): BulkOutcome<Row> => ({
  recorded: left.recorded + right.recorded,
  repeated: left.repeated + right.repeated,
  refused: [...left.refused, ...right.refused],
});

interface Accepted {
  readonly accepted: number;
  readonly repeated: number;
  readonly conflicts: readonly { readonly index: number; readonly event_id: string }[];
}

const acceptedOf = <Row>(
  rows: readonly Row[],
  { accepted, repeated, conflicts }: Accepted,
): BulkOutcome<Row> => ({
  recorded: accepted,
  repeated,
  refused: conflicts.flatMap(({ index, event_id }) => {
    const row = rows[index];
    const error = `another event has the event_id ${JSON.stringify(event_id)}`;
    return row === undefined ? [] : [{ row, error }];
  }),
});

interface Refusal {
  readonly code?: string;
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

const isOfState = ({ body }: BulkAnswer): boolean =>
  (body as Refusal | null)?.code === 'invalid_operation';

const messageOf = ({ status, body }: BulkAnswer): string =>
  (body as Refusal | null)?.message ?? `The API answered ${status}.`;

/** The faults that an answer names, by the number of the event in its bulk. */
function faultsIn({ body }: BulkAnswer): ReadonlyMap<number, string> {
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
