import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkCommit, type ExpectedRevision, type StreamView } from './commit-check.ts';

const test = suite('commit check');

interface State {
  readonly stored?: readonly string[];
  readonly tombstoned?: boolean;
  readonly softDeleted?: boolean;
  readonly hasMetadata?: boolean;
  /** The number of last events that the check by id still remembers. */
  readonly remembered?: number;
}

function view(state: State): StreamView {
  const stored = state.stored ?? [];
  const firstRemembered = stored.length - (state.remembered ?? stored.length);
  return {
    lastRevision: stored.length - 1,
    tombstoned: state.tombstoned ?? false,
    softDeleted: state.softDeleted ?? false,
    hasMetadata: state.hasMetadata ?? false,
    storedIdAt: (revision) => stored[revision],
    recentRevisionOf: (eventId) => {
      const revision = stored.lastIndexOf(eventId);
      return revision >= firstRemembered && revision >= 0 ? revision : undefined;
    },
  };
}

type Row = readonly [
  description: string,
  state: State,
  expected: ExpectedRevision,
  ids: string,
  decision: string,
];

const abc: State = { stored: ['a', 'b', 'c'] };
const tombstoned: State = { ...abc, tombstoned: true };
const hidden: State = { ...abc, softDeleted: true, hasMetadata: true };

const table: readonly Row[] = [
  ['a new stream accepts any', {}, 'any', 'a', 'write'],
  ['a new stream accepts no_stream', {}, 'no_stream', 'a', 'write'],
  ['a new stream has no revision 0', {}, 0n, 'a', 'wrong-revision'],
  ['a new stream does not exist', {}, 'stream_exists', 'a', 'wrong-revision'],
  ['a stream with metadata only exists', { hasMetadata: true }, 'stream_exists', 'a', 'write'],
  ['a stream with metadata only has no revision', { hasMetadata: true }, 0n, 'a', 'wrong-revision'],
  ['the exact last revision is written', abc, 2n, 'd', 'write'],
  ['at the last revision no id is looked up', abc, 2n, 'c', 'write'],
  ['a revision ahead of the stream is wrong', abc, 3n, 'd', 'wrong-revision'],
  ['an absurd revision is wrong', abc, 2n ** 63n - 1n, 'd', 'wrong-revision'],
  ['an earlier revision with another event is wrong', abc, 1n, 'd', 'wrong-revision'],
  ['an earlier revision with the same event is idempotent', abc, 1n, 'c', 'idempotent 2'],
  ['several same events are idempotent', abc, 0n, 'bc', 'idempotent 2'],
  ['no_stream with the first event is idempotent', abc, 'no_stream', 'a', 'idempotent 0'],
  ['no_stream with all events is idempotent', abc, 'no_stream', 'abc', 'idempotent 2'],
  ['same events and one more are wrong', abc, 'no_stream', 'abcd', 'wrong-revision'],
  ['a mismatch after a match is wrong', abc, 'no_stream', 'ax', 'wrong-revision'],
  ['an earlier revision without events is wrong', abc, 1n, '', 'wrong-revision'],
  ['the last revision without events is fine', abc, 2n, '', 'write'],
  ['any with an unknown event is written', abc, 'any', 'd', 'write'],
  ['any with a known event is idempotent', abc, 'any', 'b', 'idempotent 1'],
  ['any with known events is idempotent', abc, 'any', 'ab', 'idempotent 1'],
  ['any, first known, later unknown, is wrong', abc, 'any', 'cd', 'wrong-revision'],
  ['any, first unknown, later known, is written', abc, 'any', 'da', 'write'],
  ['any without events is fine', abc, 'any', '', 'write'],
  ['any forgets events that are long past', { ...abc, remembered: 1 }, 'any', 'a', 'write'],
  ['stream_exists with a known event is idempotent', abc, 'stream_exists', 'c', 'idempotent 2'],
  ['stream_exists with an unknown event is written', abc, 'stream_exists', 'd', 'write'],
  ['a tombstone refuses any', tombstoned, 'any', 'a', 'deleted'],
  ['a tombstone refuses the exact revision', tombstoned, 2n, 'd', 'deleted'],
  ['a tombstone refuses a retry', tombstoned, 'no_stream', 'a', 'deleted'],
  ['a tombstone without events refuses', { tombstoned: true }, 'no_stream', 'a', 'deleted'],
  ['a soft-deleted stream does not exist', hidden, 'stream_exists', 'd', 'deleted'],
  ['a soft-deleted stream can start again', hidden, 'no_stream', 'd', 'write'],
  ['a soft-deleted stream continues at its revision', hidden, 2n, 'd', 'write'],
  ['a soft-deleted stream accepts any', hidden, 'any', 'd', 'write'],
  ['a soft-deleted stream knows its events', hidden, 'no_stream', 'a', 'idempotent 0'],
  ['only no_stream starts again', hidden, 0n, 'd', 'wrong-revision'],
  ['starting again needs a new first event', hidden, 'no_stream', 'ad', 'wrong-revision'],
];

for (const [description, state, expected, ids, decision] of table) {
  test(description, () => {
    const result = checkCommit(view(state), expected, [...ids]);
    const text = result.kind === 'idempotent' ? `idempotent ${result.lastRevision}` : result.kind;
    assert.is(text, decision);
  });
}

type Step = readonly [ids: string, expected: ExpectedRevision, decision: string];

/** Applies appends one after the other and compares each decision and the final length. */
function replay(steps: readonly Step[], length: number): void {
  const stored: string[] = [];
  for (const [ids, expected, decision] of steps) {
    const result = checkCommit(view({ stored }), expected, [...ids]);
    assert.is(result.kind, decision, `${ids} at ${expected}`);
    if (result.kind === 'write') stored.push(...ids);
  }
  assert.is(stored.length, length);
}

const six: readonly Step[] = [
  ['0', 'no_stream', 'write'],
  ['1', 0n, 'write'],
  ['2', 1n, 'write'],
  ['3', 2n, 'write'],
  ['4', 3n, 'write'],
  ['5', 4n, 'write'],
];
const pair: Step = ['01', 'no_stream', 'write'];

const sequences: readonly (readonly [string, readonly Step[], number])[] = [
  ['0em1 again', [...six, ['0', 'no_stream', 'idempotent']], 6],
  ['0any', [...six, ['0', 'any', 'idempotent']], 6],
  ['0e5 is written twice', [...six, ['0', 5n, 'write']], 7],
  ['0e6', [...six, ['0', 6n, 'wrong-revision']], 6],
  ['0e4', [...six, ['0', 4n, 'wrong-revision']], 6],
  [
    '0em1 0e0',
    [
      ['0', 'no_stream', 'write'],
      ['0', 0n, 'write'],
    ],
    2,
  ],
  [
    '0em1 0any',
    [
      ['0', 'no_stream', 'write'],
      ['0', 'any', 'idempotent'],
    ],
    1,
  ],
  [
    '0em1 0em1',
    [
      ['0', 'no_stream', 'write'],
      ['0', 'no_stream', 'idempotent'],
    ],
    1,
  ],
  [
    '0em1 1e0 2e1 1any 1any',
    [...six.slice(0, 3), ['1', 'any', 'idempotent'], ['1', 'any', 'idempotent']],
    3,
  ],
  ['batch then 0em1', [pair, ['0', 'no_stream', 'idempotent']], 2],
  ['batch then 0any', [pair, ['0', 'any', 'idempotent']], 2],
  ['batch then 1e0', [pair, ['1', 0n, 'idempotent']], 2],
  ['batch then 1any', [pair, ['1', 'any', 'idempotent']], 2],
  ['batch then longer batch', [pair, ['012', 'no_stream', 'wrong-revision']], 2],
];

for (const [name, steps, length] of sequences) {
  test(`sequence: ${name}`, () => replay(steps, length));
}

test.run();
