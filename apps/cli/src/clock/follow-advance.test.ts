import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError } from '../settings.ts';
import { clockLine, followAdvance, type ShownClock } from './follow-advance.ts';

const test = suite('following an advance');

const progress = { to: '2027-01-01T00:00:00.000Z', effects: 0 };
const at = (day: number, rest: Partial<ShownClock>): ShownClock => ({
  state: 'advancing',
  now: `2026-01-0${day}T00:00:00.000Z`,
  ...rest,
});

async function follow(...shown: ShownClock[]): Promise<string[]> {
  const lines: string[] = [];
  const rest = shown.values();
  const look = async () => rest.next().value as ShownClock;
  await followAdvance(
    look,
    (line) => lines.push(line),
    async () => undefined,
  );
  return lines;
}

test('each change is told once, and the end ends it', async () => {
  const ended = { to: progress.to, effects: 7, ended: 'reached' } as const;
  assert.equal(
    await follow(
      at(1, { progress }),
      at(1, { progress }),
      at(2, { progress: { ...progress, effects: 5 } }),
      at(3, { state: 'standing', progress: ended }),
    ),
    [
      '2026-01-01T00:00:00.000Z (advancing to 2027-01-01T00:00:00.000Z, 0 effects)',
      '2026-01-02T00:00:00.000Z (advancing to 2027-01-01T00:00:00.000Z, 5 effects)',
      '2026-01-03T00:00:00.000Z (standing, reached, 7 effects)',
    ],
  );
});

test('a failure is told', async () => {
  const failed = { ...progress, ended: 'failed', failure: 'wallet expiry failed' } as const;
  try {
    await follow(at(1, { state: 'standing', progress: failed }));
    assert.unreachable();
  } catch (error) {
    assert.instance(error, OperatorError);
    assert.is((error as Error).message, 'wallet expiry failed');
  }
});

test('a clock without an advance is one instant', () => {
  assert.is(clockLine(at(1, { state: 'system' })), '2026-01-01T00:00:00.000Z (system)');
});

test.run();
