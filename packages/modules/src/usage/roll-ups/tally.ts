import {
  type Decimal,
  decimal,
  type Instant,
  instantOf,
  invariant,
  millisecondsOf,
  textOf,
  zero,
} from '@counterfoil/kernel';
import {
  groupOf,
  type Measured,
  matches,
  measureOf,
  type Properties,
  propertyText,
} from '../aggregation/measure.ts';
import { type BucketUnit, type Definition, digestOf } from './definition.ts';
import { hourOf } from './hours.ts';

/** Something that is kept of every hour of an account, under the number that a filling has given it. */
export interface Measure {
  readonly number: number;
  readonly environment: number;
  readonly definition: Definition;
  /** The part that it takes from an event; null for one that its filters leave out. */
  readonly take: (properties: Properties) => Measured | null;
}

/** Makes a measure of its definition. */
export function measureWith(
  place: Pick<Measure, 'number' | 'environment'>,
  definition: Definition,
): Measure {
  const { filters, field, expression, keeps } = definition;
  const measured = measureOf({
    type: keeps === 'distinct' ? 'COUNT_UNIQUE' : 'SUM',
    field,
    expression,
  });
  const take = (properties: Properties): Measured | null =>
    matches(filters, properties) ? measured(properties) : null;
  return { ...place, definition, take };
}

/** An event of an account, as far as it is tallied. */
export interface TalliedEvent {
  readonly account: string;
  readonly at: Instant;
  readonly position: string;
  readonly number: number;
  readonly properties: Properties;
}

interface Key {
  readonly measure: Measure;
  readonly account: string;
  /** The hour, or the stretch of it. */
  readonly start: Instant;
}

/** The figures of an hour of an account; null are those that its measure does not keep. */
export interface HourRow extends Key {
  count: number;
  total: Decimal | null;
  moment: Decimal | null;
  greatest: Decimal | null;
  latest: Latest | null;
}

interface Latest {
  readonly value: Decimal;
  readonly at: Instant;
  readonly position: string;
  readonly number: number;
}

/** A value, or the greatest of a group, under its digest. */
export interface DigestRow extends Key {
  readonly digest: string;
  readonly greatest: Decimal;
}

/** The figures of the events of an hour that have one value in common. */
export interface GroupRow extends Key {
  readonly digest: string;
  /** The value; null for events that have none. */
  readonly text: string | null;
  count: number;
  total: Decimal;
}

/** The digest of events without a value, which is that of no text. */
export const noValue = '0'.repeat(32);

/** The figures of events, by measure, account and hour: the rows that are added to the tables. */
export class Tally {
  readonly #hours = new Map<string, HourRow>();
  readonly #distinct = new Map<string, DigestRow>();
  readonly #buckets = new Map<string, DigestRow>();
  readonly #groups = new Map<string, GroupRow>();

  get hours(): readonly HourRow[] {
    return [...this.#hours.values()];
  }

  get distinct(): readonly DigestRow[] {
    return [...this.#distinct.values()];
  }

  get buckets(): readonly DigestRow[] {
    return [...this.#buckets.values()];
  }

  get groups(): readonly GroupRow[] {
    return [...this.#groups.values()];
  }

  /** Adds an event, if the measure counts it. */
  add(measure: Measure, event: TalliedEvent): void {
    const measured = measure.take(event.properties);
    switch (measured?.kind) {
      case undefined:
      case 'bad':
        return;
      case 'event':
        if (measure.definition.keeps === 'groups') this.#addToGroup(measure, event, zero);
        else this.#hourOf(measure, event).count += 1;
        return;
      case 'number':
        this.#addNumber(measure, event, measured.value);
        return;
      case 'text':
        this.#addDistinct(measure, event, measured.text);
        return;
      case 'sums':
        throw new TypeError('an event is no sum of others');
      default:
        measured satisfies undefined;
    }
  }

  #addNumber(measure: Measure, event: TalliedEvent, value: Decimal): void {
    const { keeps } = measure.definition;
    if (keeps === 'buckets') {
      this.#addToBucket(measure, event, value);
      return;
    }
    if (keeps === 'groups') {
      this.#addToGroup(measure, event, value);
      return;
    }
    const row = this.#hourOf(measure, event);
    row.count += 1;
    switch (keeps) {
      case 'sums':
        row.total = (row.total ?? zero).plus(value);
        return;
      case 'levels': {
        const into = decimal(String(millisecondsOf(event.at) - millisecondsOf(row.start)));
        row.total = (row.total ?? zero).plus(value);
        row.moment = (row.moment ?? zero).plus(value.times(into));
        return;
      }
      case 'greatest':
        row.greatest = greater(row.greatest, value);
        return;
      case 'latest':
        row.latest = later(row.latest, { ...event, value });
        return;
      case 'distinct':
        throw new TypeError('different values are told apart as text');
      default:
        keeps satisfies never;
    }
  }

  #hourOf(measure: Measure, { account, at }: TalliedEvent): HourRow {
    const key = `${measure.number} ${account} ${at.slice(0, 13)}`;
    const known = this.#hours.get(key);
    if (known) return known;
    const nothing = { count: 0, total: null, moment: null, greatest: null, latest: null };
    const row: HourRow = { measure, account, start: hourOf(at), ...nothing };
    this.#hours.set(key, row);
    return row;
  }

  #addDistinct(measure: Measure, { account, at }: TalliedEvent, text: string): void {
    const digest = digestOf(text);
    const key = `${measure.number} ${account} ${at.slice(0, 13)} ${digest}`;
    if (this.#distinct.has(key)) return;
    this.#distinct.set(key, { measure, account, start: hourOf(at), digest, greatest: zero });
  }

  #addToGroup(measure: Measure, { account, at, properties }: TalliedEvent, value: Decimal): void {
    const { group_by } = measure.definition;
    invariant(group_by !== null, 'groups have a property');
    const text = propertyText(properties, group_by);
    const key = `${measure.number} ${account} ${at.slice(0, 13)} ${text === null ? '' : `=${text}`}`;
    const known = this.#groups.get(key);
    if (known) {
      known.count += 1;
      known.total = known.total.plus(value);
      return;
    }
    const digest = text === null ? noValue : digestOf(text);
    const start = hourOf(at);
    this.#groups.set(key, { measure, account, start, digest, text, count: 1, total: value });
  }

  #addToBucket(measure: Measure, { account, at, properties }: TalliedEvent, value: Decimal): void {
    const { unit, group_by } = measure.definition;
    invariant(unit !== null, 'buckets have a unit');
    const start = startOf(unit, at);
    const digest = digestOf(group_by === null ? '' : groupOf(properties, group_by));
    const key = `${measure.number} ${account} ${start} ${digest}`;
    const greatest = greater(this.#buckets.get(key)?.greatest ?? null, value);
    this.#buckets.set(key, { measure, account, start, digest, greatest });
  }
}

const unitMilliseconds: Readonly<Record<BucketUnit, number>> = {
  MINUTE: 60_000,
  '15MIN': 900_000,
  '30MIN': 1_800_000,
  HOUR: 3_600_000,
};

/** The start, by the clock of UTC, of the stretch that an instant lies in. */
export function startOf(unit: BucketUnit, at: Instant): Instant {
  const milliseconds = millisecondsOf(at);
  const length = unitMilliseconds[unit];
  return instantOf(Math.floor(milliseconds / length) * length);
}

const greater = (known: Decimal | null, value: Decimal): Decimal =>
  known !== null && known.cmp(value) >= 0 ? known : value;

/** The later one by time and, at one instant, in the log (D56). */
function later(known: Latest | null, { value, at, position, number }: Latest): Latest {
  const one = { value, at, position, number };
  if (known === null || known.at !== at) return known === null || known.at < at ? one : known;
  const [before, after] = [BigInt(known.position), BigInt(position)];
  const isLater = before === after ? known.number < number : before < after;
  return isLater ? one : known;
}

/** A decimal as a column takes it. */
export const columnOf = (value: Decimal | null): string | null =>
  value === null ? null : textOf(value);
