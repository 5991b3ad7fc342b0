import { type FactSelect, type FactTables, type Page, where } from '@counterfoil/engine/define';
import { type DecimalText, decimal, textOf } from '@counterfoil/kernel';
import { sql } from 'kysely';
import { featureRecords } from '../../features/index.ts';
import { type Meter, meterRecords } from '../../meters/index.ts';
import type { ExportRun } from '../../scheduled-tasks/index.ts';
import {
  matches,
  measureOf,
  type Properties,
  refuseDropped,
  usageTables,
  wholeAggregation,
} from '../../usage/index.ts';
import { columnsOf, type ExportColumn, type ExportRow } from '../rows.ts';
import { before, effectiveIn, lateFor, recordedIn } from '../window.ts';
import type { ExportReads, ExportSource } from './source.ts';

/** The columns of the contract (E 23.3); those that it leaves empty have no value here either. Then our own. */
const columns: readonly ExportColumn[] = [
  ...columnsOf('text', 'id', 'tenant_id', 'environment_id', 'external_customer_id', 'customer_id'),
  ...columnsOf('text', 'subscription_id', 'sub_line_item_id', 'price_id', 'meter_id', 'feature_id'),
  ...columnsOf('text', 'event_name', 'source'),
  ...columnsOf('instant', 'timestamp', 'ingested_at'),
  ...columnsOf('text', 'period_id'),
  ...columnsOf('decimal', 'qty_total', 'provisional_usage_charges'),
  ...columnsOf('json', 'properties'),
  ...columnsOf('text', 'unique_hash'),
  ...columnsOf('instant', 'voided_at'),
  ...columnsOf('integer', 'revision', 'position'),
];

interface EventRow {
  readonly event_id: string;
  readonly name: string;
  readonly external_id: string;
  readonly customer_id: string | null;
  readonly source: string | null;
  readonly at: string;
  readonly recorded_at: string;
  readonly position: string;
  readonly properties: string | null;
  readonly voided_at: string | null;
}

type Tables = StatementOf<typeof usageTables>;

/** A statement on the tables of usage. */
type StatementOf<Facts> =
  Facts extends FactTables<infer Shown> ? Parameters<FactSelect<Shown, unknown>>[0] : never;

const members = [
  ...['row.event_id', 'row.account', 'row.name', 'row.source', 'row.at', 'row.recorded_at'],
  ...['row.position', 'row.number', 'row.properties'],
] as const;

const eventPosition = sql`row.position`;
const voidPosition = sql`row.void_position`;
const effective = sql`row.at`;
const voided = { recorded: sql`row.voided_at`, position: voidPosition };

const environmentOf = (from: Tables, run: ExportRun) =>
  from
    .selectFrom('environment')
    .select('environment.number')
    .where('environment.environment_id', '=', run.environment_id);

/**
 * The events of the window, as they stood when it was closed; and those that were taken back in it, which come once more
 * with the instant of that.
 */
function selected(from: Tables, run: ExportRun) {
  const isEffective = run.job_config.window_by === 'effective';
  const isOfEvent = isEffective
    ? effectiveIn(effective, eventPosition, run)
    : recordedIn({ recorded: sql`row.recorded_at`, position: eventPosition }, run);
  const isOfVoid = isEffective
    ? effectiveIn(effective, voidPosition, run)
    : recordedIn(voided, run);
  // In its own window a void comes as a row; here the event stands as it stood.
  const isVoidLater = isEffective
    ? sql<boolean>`${voidPosition} > ${run.position}::bigint`
    : sql<boolean>`not ${before(voided, run.end, run.position)}`;
  const counted = from
    .selectFrom('event as row')
    .select(members)
    .select(sql<string | null>`null::timestamptz`.as('voided_at'))
    .where('row.environment', '=', environmentOf(from, run))
    .where(isOfEvent);
  const ofVoided = () =>
    from.selectFrom('voided as row').where('row.environment', '=', environmentOf(from, run));
  const countedThen = ofVoided()
    .select(members)
    .select(sql<string | null>`null::timestamptz`.as('voided_at'))
    .where(isOfEvent)
    .where(isVoidLater);
  const takenBack = ofVoided()
    .select(members)
    .select(sql<string | null>`row.voided_at`.as('voided_at'))
    .where(isOfVoid);
  return from
    .selectFrom(counted.unionAll(countedThen).unionAll(takenBack).as('found'))
    .innerJoin('account', 'account.number', 'found.account')
    .innerJoin('event_name', 'event_name.number', 'found.name')
    .select(['found.event_id', 'event_name.name', 'account.external_id', 'account.customer_id'])
    .select(['found.source', 'found.at', 'found.recorded_at', 'found.position'])
    .select(['found.properties', 'found.voided_at'])
    .orderBy('found.position')
    .orderBy('found.number')
    .orderBy('found.voided_at');
}

/** A meter, as far as it counts an event, with the feature that it measures where that is one. */
interface Counting {
  readonly meterId: string;
  readonly featureId: string | null;
  /** The quantity that it counts of an event (E 4.4); null for nothing. */
  readonly quantityOf: (properties: Properties) => DecimalText | null;
}

const one = textOf(decimal('1'));

/** Meters and features that are read for one run. */
const page = { limit: 1_000, offset: 0 };

/** The meters that count, by the name of their events. */
async function countingByName({ context }: ExportReads): Promise<Map<string, Counting[]>> {
  const published = where('status', 'eq', 'published');
  const meters = await allOf((offset) =>
    context.read.list(meterRecords.table, { ...page, offset }, published),
  );
  const features = await allOf((offset) =>
    context.read.list(featureRecords.table, { ...page, offset }, [
      ...published,
      ...where('type', 'eq', 'metered'),
    ]),
  );
  const featuresOf = Map.groupBy(features, ({ meter_id }) => meter_id ?? '');
  const byName = new Map<string, Counting[]>();
  for (const meter of meters.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    const [feature, another] = featuresOf.get(meter.id) ?? [];
    const counting = {
      meterId: meter.id,
      featureId: another ? null : (feature?.id ?? null),
      quantityOf: quantityBy(meter),
    };
    byName.set(meter.event_name, [...(byName.get(meter.event_name) ?? []), counting]);
  }
  return byName;
}

async function allOf<Item>(read: (offset: number) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const { items, pagination } = await read(all.length);
    all.push(...items);
    if (items.length === 0 || all.length >= pagination.total) return all;
  }
}

function quantityBy(meter: Meter): Counting['quantityOf'] {
  const { filters } = meter;
  const measure = measureOf(wholeAggregation(meter));
  return (properties) => {
    if (!matches(filters, properties)) return null;
    const measured = measure(properties);
    switch (measured.kind) {
      case 'number':
        return textOf(measured.value);
      case 'text':
      case 'event':
        return one;
      case 'bad':
        return null;
      default:
        return measured satisfies never;
    }
  };
}

/** The rows of an event: one for each meter that counts it, and one where none does. */
function rowsOf(run: ExportRun, row: EventRow, counting: readonly Counting[]): ExportRow[] {
  const rows: ExportRow[] = [];
  if (counting.length > 0) {
    const properties: Properties = row.properties === null ? {} : JSON.parse(row.properties);
    for (const { meterId, featureId, quantityOf } of counting) {
      const quantity = quantityOf(properties);
      if (quantity !== null) rows.push(rowWith(run, row, { meterId, featureId, quantity }));
    }
  }
  if (rows.length === 0) rows.push(rowWith(run, row, uncounted));
  return rows;
}

/** An event as a meter counts it. */
type Counted = Pick<Counting, 'meterId' | 'featureId'> & { readonly quantity: DecimalText };
const uncounted = { meterId: null, featureId: null, quantity: null };

/** One array, which is not put together from others: there are millions of rows. */
const rowWith = (run: ExportRun, row: EventRow, by: Counted | typeof uncounted): ExportRow => [
  row.event_id,
  run.tenant_id,
  run.environment_id,
  row.external_id,
  row.customer_id,
  null,
  null,
  null,
  by.meterId,
  by.featureId,
  row.name,
  row.source,
  row.at,
  row.recorded_at,
  null,
  by.quantity,
  null,
  row.properties ?? '{}',
  null,
  row.voided_at,
  row.voided_at === null ? 0 : 1,
  row.position,
];

const noMeters: readonly Counting[] = [];

/** Usage events, one row for each meter that counts one (E 23.3). */
export const eventsSource: ExportSource = {
  columns: () => columns,
  summed: () => [],
  tables: [meterRecords.table.name, featureRecords.table.name],
  needsUsage: true,
  async *rows(from) {
    const { run, reads } = from;
    const byName = await countingByName(from);
    const portions = reads.facts(usageTables, (tables) => selected(tables, run));
    for await (const portion of portions) {
      yield portion.flatMap((row) => rowsOf(run, row, byName.get(row.name) ?? noMeters));
    }
    // Looked at afterwards: what was dropped while it was read is noticed too.
    await refuseDropped(from.context, { eventName: null, spans: [run] });
  },
  async late({ run, reads }) {
    if (run.job_config.window_by !== 'effective') return null;
    const counted = reads.facts(usageTables, (from) =>
      from
        .selectFrom('event as row')
        .select((row) => row.fn.countAll<string>().as('count'))
        .where('row.environment', '=', environmentOf(from, run))
        .where(lateFor(effective, eventPosition, run)),
    );
    for await (const [row] of counted) return +(row?.count ?? 0);
    return 0;
  },
};
