import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ApiAnswer } from '../http-api.ts';
import { OperatorError } from '../settings.ts';
import type { EventRow } from './event-rows.ts';
import { importEvents, type RefusedLine } from './import-events.ts';

const test = suite('import of usage');

const eventRow = (line: number): EventRow => ({
  kind: 'event',
  line,
  text: `{"event_id":"${line}"}`,
  row: { event_id: String(line) },
});

type Bulk = readonly { readonly event_id: string }[];

/** Runs an import of some rows against an API that the test makes up. */
async function imported(rows: readonly EventRow[], answer: (events: Bulk) => ApiAnswer) {
  const sent: number[] = [];
  const refused: RefusedLine[] = [];
  async function* source() {
    yield* rows;
  }
  const counts = await importEvents(source(), {
    send: async (body) => {
      const { events } = JSON.parse(body) as { readonly events: Bulk };
      sent.push(events.length);
      return answer(events);
    },
    pause: () => Promise.resolve(),
    onRefused: (line) => refused.push(line),
    onProgress: () => undefined,
  });
  return { counts, sent, refused };
}

const all = (events: Bulk): ApiAnswer => ({
  status: 202,
  body: { accepted: events.length, repeated: 0, conflicts: [] },
});

const rowsUpTo = (count: number): EventRow[] =>
  Array.from({ length: count }, (_, index) => eventRow(index + 1));

test('events go out in order, a thousand at once', async () => {
  const { counts, sent } = await imported(rowsUpTo(2_500), all);
  assert.equal(sent, [1_000, 1_000, 500]);
  assert.equal(counts, { lines: 2_500, recorded: 2_500, repeated: 0, refused: 0 });
});

test('events that are refused are told with their lines, and the others are recorded', async () => {
  const { counts, refused } = await imported(rowsUpTo(10), (events) => {
    const wrong = events.findIndex(({ event_id }) => Number(event_id) % 4 === 0);
    if (wrong < 0) return all(events);
    const errors = [{ pointer: `/events/${wrong}/event_name`, message: 'is required' }];
    return { status: 400, body: { message: 'wrong', errors } };
  });
  assert.equal(counts, { lines: 10, recorded: 8, repeated: 0, refused: 2 });
  assert.equal(
    refused.map(({ line, error }) => [line, error]),
    [
      [4, 'event_name: is required'],
      [8, 'event_name: is required'],
    ],
  );
});

test('where a refusal names no event, it is looked for', async () => {
  const { counts, refused } = await imported(rowsUpTo(20), (events) =>
    events.some(({ event_id }) => event_id === '7')
      ? { status: 400, body: { message: 'cannot be carried', errors: [] } }
      : all(events),
  );
  assert.equal(counts, { lines: 20, recorded: 19, repeated: 0, refused: 1 });
  assert.equal(
    refused.map(({ line, error }) => [line, error]),
    [[7, 'cannot be carried']],
  );
});

test('repetitions are counted, conflicts and faults of the file are refused', async () => {
  const rows: EventRow[] = [
    ...rowsUpTo(3),
    { kind: 'fault', line: 4, error: 'is no JSON object', row: 'x' },
  ];
  const { counts, refused } = await imported(rows, () => ({
    status: 202,
    body: { accepted: 1, repeated: 1, conflicts: [{ index: 2, event_id: '3' }] },
  }));
  assert.equal(counts, { lines: 4, recorded: 1, repeated: 1, refused: 2 });
  assert.equal(
    refused.map(({ line }) => line),
    [4, 3],
  );
});

test('a bulk is sent again until there is an answer that is final', async () => {
  const answers = [503, 429, 500];
  const { counts, sent } = await imported(rowsUpTo(2), (events) => {
    const status = answers.shift();
    if (status === undefined) return all(events);
    if (status === 500) throw new OperatorError('does not answer');
    return { status, body: null };
  });
  assert.equal(sent, [2, 2, 2, 2]);
  assert.is(counts.recorded, 2);
});

test('an import ends where what it fills has ended', async () => {
  const message = 'The backfill was closed.';
  let asked = 0;
  const refusal = await imported(rowsUpTo(3), () => {
    asked += 1;
    return { status: 400, body: { code: 'invalid_operation', message } };
  }).then(String, (error: Error) => error);
  assert.instance(refusal, OperatorError);
  assert.is(asked, 1);
});

test('an import ends where the service stays away, or does not take the key', async () => {
  for (const [status, times] of [
    [503, 60],
    [401, 1],
  ] as const) {
    let asked = 0;
    const refusal = await imported(rowsUpTo(1), () => {
      asked += 1;
      return { status, body: { message: `It is ${status}.` } };
    }).then(String, (error: Error) => error);
    assert.instance(refusal, OperatorError);
    assert.is(asked, times);
  }
});

test.run();
