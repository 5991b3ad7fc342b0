import type { AskingContext } from '@counterfoil/engine/define';
import { rejection } from '@counterfoil/testkit';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Computed } from '../computing.ts';
import type { UsageReadings } from '../usage-readings.ts';
import { atOnePosition } from './at-one-position.ts';

const test = suite('figures at one position');

const context = {} as AskingContext;

/**
 * Tables that move on after each round in which they are read, with what is counted in each.
 *
 * @param stops the round from which on they stand still
 */
function moving(counted: readonly number[], stops: number) {
  let round = -1;
  const usage: UsageReadings = {
    atOnce: () => Promise.reject(new Error('drafts alone read at once')),
    byNow: async () => {
      round += 1;
      const own = round;
      return {
        context,
        moment: { position: String(100 + own) },
        isStill: async () => own >= stops,
      };
    },
  };
  const compute = async (read: Parameters<Parameters<typeof atOnePosition>[2]>[0]) => {
    const { moment } = await read();
    const subtotal = String(counted[Math.min(round, counted.length - 1)]);
    return { subtotal, position: moment.position } as unknown as Computed;
  };
  return {
    compute,
    figures: () => atOnePosition(context, usage, compute),
    rounds: () => round + 1,
  };
}

test('tables that stand still are read once', async () => {
  const { figures, rounds } = moving([7], 0);
  assert.equal(await figures(), { subtotal: '7', position: '100' });
  assert.is(rounds(), 1);
});

test('where usage of others came in between, the same figures again are those of the position between', async () => {
  const { figures, rounds } = moving([7], 99);
  assert.equal(await figures(), { subtotal: '7', position: '101' });
  assert.is(rounds(), 2);
});

test('where own usage came in between, figures are computed until they come out twice', async () => {
  const { figures } = moving([7, 8, 8], 99);
  assert.equal(await figures(), { subtotal: '8', position: '102' });
});

test('figures that go on changing are refused for now', async () => {
  const { figures, rounds } = moving([1, 2, 3, 4, 5, 6, 7], 99);
  assert.is((await rejection(figures())).code, 'service_unavailable');
  assert.is(rounds(), 6);
});

test('an invoice without usage reads none', async () => {
  const usage = {} as UsageReadings;
  const figures = { subtotal: '5', position: null } as unknown as Computed;
  assert.is(await atOnePosition(context, usage, async () => figures), figures);
});

test.run();
