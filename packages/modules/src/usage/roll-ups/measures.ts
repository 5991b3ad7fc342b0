import type { FillSession } from '@counterfoil/engine/define';
import { canonicalJson, invariant } from '@counterfoil/kernel';
import type { Aggregation, MeterEvent } from '../../meters/index.ts';
import type { PropertyFilters } from '../aggregation/measure.ts';
import { type Definition, definitionDigest, definitionOf } from './definition.ts';
import { type Measure, measureWith } from './tally.ts';

/**
 * Measures of one name in an environment: each costs something with every event. Meters beyond are counted from
 * events when they are asked.
 */
export const measuresMaximum = 64;

/** A meter's event and where it stands. */
export interface MeterChange {
  readonly environment: number;
  readonly id: string;
  readonly position: string;
  readonly event: MeterEvent;
}

/** A grouping that is kept for questions from a position on, or no more. */
export interface GroupingChange {
  readonly environment: number;
  readonly position: string;
  readonly definition: Definition;
  readonly isKept: boolean;
}

/**
 * The measures of the events of each name, as the log of meters says. Meters that need the same share it; a
 * measure that no meter needs any more is retired, and its number is not given again.
 */
export class Measures {
  readonly #session: FillSession;
  #byName: Map<string, Measure[]> | null = null;

  constructor(session: FillSession) {
    this.#session = session;
  }

  forget(): void {
    this.#byName = null;
  }

  /** Reads what is kept, unless it is known. */
  async load(): Promise<void> {
    if (this.#byName) return;
    const { query, schema } = this.#session;
    const { rows } = await query<MeasureRow>(
      `select number, environment, definition from ${schema}.measure where not is_retired order by number`,
    );
    this.#byName = new Map();
    for (const row of rows) this.#add(row, JSON.parse(row.definition));
  }

  /** The measures of the events of a name, once they are loaded. */
  of(environment: number, eventName: string): readonly Measure[] {
    invariant(this.#byName, 'the measures are not loaded');
    return this.#byName.get(nameKey(environment, eventName)) ?? [];
  }

  /** Follows the life of a meter. */
  async follow(change: MeterChange): Promise<void> {
    const { event, environment, id } = change;
    switch (event.type) {
      case 'MeterCreated': {
        const { event_name, aggregation, filters } = event.data;
        return await this.#assign(change, { event_name, aggregation }, filters);
      }
      case 'MeterFiltersReplaced': {
        const { filters } = event.data;
        const counted = filters && (await this.#counted(id));
        return counted ? await this.#assign(change, counted, filters) : undefined;
      }
      case 'MeterDisabled':
        // It keeps what it has counted, and can still be asked.
        return;
      case 'MeterRetired':
      case 'MeterDeleted':
        return await this.#release(environment, id);
      default:
        event satisfies never;
    }
  }

  /** Follows what is kept for questions. */
  async followGrouping(change: GroupingChange): Promise<void> {
    const { environment, definition, position, isKept } = change;
    if (isKept) {
      await this.#need(environment, definition, position);
      return;
    }
    const { query, schema } = this.#session;
    await query(
      `update ${schema}.measure set is_retired = true
        where environment = $1 and digest = $2 and not is_retired`,
      [environment, definitionDigest(definition)],
    );
    this.forget();
  }

  async #counted(id: string): Promise<Counted | null> {
    const { query, schema } = this.#session;
    const { rows } = await query<{ event_name: string; aggregation: string }>(
      `select event_name, aggregation from ${schema}.meter where id = $1`,
      [id],
    );
    const [row] = rows;
    return row ? { ...row, aggregation: JSON.parse(row.aggregation) } : null;
  }

  async #assign(
    { environment, id, position }: MeterChange,
    { event_name, aggregation }: Counted,
    filters: PropertyFilters,
  ): Promise<void> {
    const { query, schema } = this.#session;
    const definition = definitionOf(event_name, aggregation as Aggregation, filters);
    const measure = await this.#need(environment, definition, position);
    await query(
      `insert into ${schema}.meter (id, environment, event_name, aggregation, measure)
       values ($1, $2, $3, $4, $5) on conflict (id) do update set measure = excluded.measure`,
      [id, environment, event_name, canonicalJson(aggregation), measure],
    );
    await this.#retire(environment, event_name);
  }

  async #release(environment: number, id: string): Promise<void> {
    const { query, schema } = this.#session;
    const { rows } = await query<{ event_name: string }>(
      `delete from ${schema}.meter where id = $1 returning event_name`,
      [id],
    );
    const [row] = rows;
    if (row) await this.#retire(environment, row.event_name);
  }

  /** The number of the measure with a definition, which is made where there is room; else null. */
  async #need(
    environment: number,
    definition: Definition,
    position: string,
  ): Promise<number | null> {
    await this.load();
    const digest = definitionDigest(definition);
    const known = this.of(environment, definition.event_name);
    const same = known.find((one) => definitionDigest(one.definition) === digest);
    if (same) return same.number;
    const isGrouping = definition.keeps === 'groups';
    const ofMeters = known.filter((one) => one.definition.keeps !== 'groups');
    if (!isGrouping && ofMeters.length >= measuresMaximum) return null;
    const { query, schema } = this.#session;
    const { rows } = await query<{ number: number }>(
      // Where there are no events of the name, none are to be counted.
      `insert into ${schema}.measure (environment, name, digest, definition, since, is_grouping, is_complete)
       values ($1, $2, $3, $4, $5, $6, not exists (select from ${schema}.event_name where environment = $1 and name = $2))
       returning number`,
      [environment, definition.event_name, digest, canonicalJson(definition), position, isGrouping],
    );
    const [row] = rows;
    invariant(row, 'a measure has a number');
    // What was there before is counted from events: of dropped months it has none.
    await query(
      `insert into ${schema}.measure_gap (environment, measure, month, first_at, last_at)
       select environment, $2, month, date_trunc('hour', first_at), last_at from ${schema}.dropped_usage
        where environment = $1 and until is null
          and name = (select number from ${schema}.event_name where environment = $1 and name = $3)`,
      [environment, row.number, definition.event_name],
    );
    this.#add({ environment, number: row.number }, definition);
    return row.number;
  }

  /** Retires the measures of a name that no meter needs. */
  async #retire(environment: number, eventName: string): Promise<void> {
    await this.load();
    const { query, schema } = this.#session;
    const { rows } = await query<{ number: number }>(
      `update ${schema}.measure set is_retired = true
        where environment = $1 and name = $2 and not is_retired
          and not is_grouping
          and not exists (select from ${schema}.meter where meter.measure = ${schema}.measure.number)
       returning number`,
      [environment, eventName],
    );
    if (rows.length === 0) return;
    const retired = new Set(rows.map(({ number }) => number));
    const left = this.of(environment, eventName).filter(({ number }) => !retired.has(number));
    this.#byName?.set(nameKey(environment, eventName), left);
  }

  #add(place: Pick<Measure, 'number' | 'environment'>, definition: Definition): void {
    const key = nameKey(place.environment, definition.event_name);
    const measures = this.#byName?.get(key) ?? [];
    this.#byName?.set(key, [...measures, measureWith(pick(place), definition)]);
  }
}

const pick = ({ number, environment }: Pick<Measure, 'number' | 'environment'>) => ({
  number,
  environment,
});

interface Counted {
  readonly event_name: string;
  readonly aggregation: unknown;
}

interface MeasureRow {
  readonly number: number;
  readonly environment: number;
  readonly definition: string;
}

const nameKey = (environment: number, name: string): string => `${environment} ${name}`;
