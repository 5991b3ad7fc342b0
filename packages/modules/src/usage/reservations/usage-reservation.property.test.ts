import { decimal, type Instant, type Stamped, textOf } from '@counterfoil/kernel';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  LimitReached,
  PlainUsageUnclear,
  type ReservedUsage,
  reserveUsage,
  type UsageReservationEvent,
  usageReservation,
} from './usage-reservation.ts';

const test = suite('reservations of usage');

const at = '2026-03-15T12:00:00.000Z' as Instant;

/** A reservation beside tables that count a little later, as a test drives it. */
class World {
  readonly #limit: number;
  #state: ReservedUsage = usageReservation.initial;
  /** The figures of the tables: of the reservation, and of plain usage. */
  #counted = 0;
  #plainCounted = 0;
  readonly #waiting: number[] = [];
  let = 0;
  plain = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  usePlainly(quantity: number): void {
    this.plain += quantity;
    this.#plainCounted += quantity;
  }

  /** The tables count what waits, up to a number. */
  count(number: number): void {
    for (const quantity of this.#waiting.splice(0, number)) this.#counted += quantity;
  }

  /** Asks with what the tables say before and after some of it is counted. */
  ask(quantity: number, countedMeanwhile: number): 'let' | 'reached' | 'unclear' {
    const before = this.#counted;
    this.count(countedMeanwhile);
    // The whole was read somewhere between the two.
    const all = this.#plainCounted + before + Math.floor((this.#counted - before) / 2);
    const plain = {
      least: decimal(String(all - this.#counted)),
      most: decimal(String(all - before)),
      position: '4711',
    };
    const decide = reserveUsage({
      ...{ customer_id: 'cust_1', feature_id: 'feat_1', period_start: at, period_end: null },
      limit: textOf(decimal(String(this.#limit))),
      quantity: textOf(decimal(String(quantity))),
      usage: { event_id: 'e', event_name: 'n', external_customer_id: 'c', timestamp: at },
      plain,
    });
    try {
      for (const event of decide(this.#state, at)) {
        const stamped = { ...event, stamp: {} } as unknown as Stamped<UsageReservationEvent>;
        this.#state = usageReservation.evolve(this.#state, stamped);
      }
    } catch (reason) {
      if (reason instanceof PlainUsageUnclear) return 'unclear';
      if (reason instanceof LimitReached) return 'reached';
      throw reason;
    }
    this.let += quantity;
    this.#waiting.push(quantity);
    return 'let';
  }
}

const step = fc.record({
  quantity: fc.integer({ min: 1, max: 7 }),
  counted: fc.integer({ min: 0, max: 3 }),
  plain: fc.boolean(),
});

test('whatever the tables have counted, the limit is never passed, and is used up to the last unit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      fc.array(step, { maxLength: 60 }),
      (limit, steps) => {
        const world = new World(limit);
        for (const { quantity, counted, plain } of steps) {
          if (plain) {
            world.usePlainly(quantity);
            continue;
          }
          const room = limit - world.plain - world.let;
          const said = world.ask(quantity, counted);
          if (said === 'let') assert.ok(quantity <= room, `${quantity} of ${room} was let through`);
          if (said === 'reached') assert.ok(quantity > room, `${quantity} of ${room} was refused`);
        }
        // Once all is counted nothing is unclear any more.
        world.count(Number.POSITIVE_INFINITY);
        const room = limit - world.plain - world.let;
        for (let left = room; left > 0; left -= 1) assert.is(world.ask(1, 0), 'let');
        assert.is(world.ask(1, 0), 'reached');
        if (room >= 0) assert.is(world.plain + world.let, limit);
      },
    ),
    // Few lives come to the edge of a limit while something is still being counted.
    { numRuns: 400 },
  );
});

test('the answer says what is used with it', () => {
  const plain = { least: decimal('3'), most: decimal('3'), position: '9' };
  const [event] = reserveUsage({
    ...{ customer_id: 'cust_1', feature_id: 'feat_1', period_start: at, period_end: null },
    ...{ limit: textOf(decimal('10')), quantity: textOf(decimal('2.5')), plain },
    usage: { event_id: 'e', event_name: 'n', external_customer_id: 'c', timestamp: at },
  })({ reserved: textOf(decimal('4.5')) }, at);
  assert.equal([event?.data.used, event?.data.counted_up_to], ['10', '9']);
});

test.run();
