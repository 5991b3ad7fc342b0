import { type Instant, Problem, type Stamped } from '@counterfoil/kernel';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type BackfillEvent,
  type BackfillState,
  closeBackfill,
  openBackfill,
  revertBackfill,
  usageBackfill,
} from './backfill.ts';

const test = suite('backfill');

const terms = {
  source: 'gateway',
  start_time: '2026-05-01T00:00:00.000Z' as Instant,
  end_time: '2026-06-01T00:00:00.000Z' as Instant,
  description: null,
};
const at = '2026-11-01T00:00:00.000Z' as Instant;
const opened: BackfillEvent = { type: 'BackfillOpened', data: terms };
const closed: BackfillEvent = { type: 'BackfillClosed', data: {} };
const reverted: BackfillEvent = { type: 'BackfillReverted', data: {} };

const after = (events: readonly BackfillEvent[]): BackfillState =>
  events.reduce<BackfillState>(
    (state, event) =>
      usageBackfill.evolve(state, {
        ...event,
        stamp: { occurred_at: at },
      } as Stamped<BackfillEvent>),
    usageBackfill.initial,
  );

const decisions = {
  open: openBackfill(terms),
  close: closeBackfill('backfill_1'),
  revert: revertBackfill('backfill_1'),
} as const;

for (const [given, when, outcome] of [
  [[], 'open', [opened]],
  [[opened], 'open', []],
  [[], 'close', 'not_found'],
  [[], 'revert', 'not_found'],
  [[opened], 'close', [closed]],
  [[opened], 'revert', [reverted]],
  [[opened, closed], 'close', []],
  [[opened, reverted], 'revert', []],
  [[opened, closed], 'revert', 'invalid_operation'],
  [[opened, reverted], 'close', 'invalid_operation'],
] as const satisfies readonly (readonly [
  readonly BackfillEvent[],
  keyof typeof decisions,
  readonly BackfillEvent[] | string,
])[]) {
  const told = given.map(({ type }) => type).join(', ') || 'nothing';
  test(`after ${told}: ${when}`, () => {
    const decide = () => decisions[when](after(given), at);
    if (typeof outcome !== 'string') {
      assert.equal(decide(), outcome);
      return;
    }
    assert.throws(decide, (error: unknown) => error instanceof Problem && error.code === outcome);
  });
}

test('it keeps its terms and says when it ended', () => {
  assert.equal(after([opened]), { ...terms, status: 'open', opened_at: at, ended_at: null });
  assert.equal(after([opened, closed]), {
    ...terms,
    status: 'closed',
    opened_at: at,
    ended_at: at,
  });
});

test.run();
