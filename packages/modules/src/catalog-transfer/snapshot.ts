import type { AnyProjection, RequestContext } from '@counterfoil/engine/define';
import { type AnyAggregate, type Instant, invalidOperation } from '@counterfoil/kernel';
import { type Offer, offer } from '../offers/index.ts';
import type { AnyRecord } from '../record/index.ts';
import { mapSections } from './entry.ts';
import { inTextOrder, Names, naturalKeys } from './keys.ts';
import { type Kind, kinds } from './kinds.ts';
import { currentPrices } from './offer-entries.ts';
import { type OfferKind, offerKinds } from './offer-kinds.ts';
import { type Section, sectionMaximum } from './schema.ts';

const pageRows = 1000;
const loadedAtOnce = 32;

/** The catalogue of an environment as the log has it, by section and key: what is published, and stopped meters in use. */
export interface Snapshot {
  readonly records: Readonly<Record<Kind['section'], ReadonlyMap<string, AnyRecord>>>;
  readonly offers: Readonly<Record<OfferKind['section'], ReadonlyMap<string, Offer>>>;
}

/**
 * All published records, and the stopped meters that they use. The read model names them, and the log has their contents. Throws 400 when
 * they are more than one document may hold.
 */
export async function catalogSnapshot(context: RequestContext): Promise<Snapshot> {
  const published = mapSections((): readonly AnyRecord[] => []);
  for (const { section, table, aggregate } of kinds) {
    const found = await loadedRecords<AnyRecord>(context, section, table, aggregate);
    published[section] = found.filter(isPublished);
  }
  const offers = { plans: new Map(), addons: new Map(), costsheets: new Map() };
  for (const { section, table } of offerKinds) {
    const found = await loadedRecords<Offer>(context, section, table, offer);
    const published = found.filter(({ root }) => root.record.status === 'published');
    const keys = naturalKeys(
      published.map(({ root: { record } }) => ({ unique: record.lookup_key, name: record.name })),
    );
    published.forEach((each, index) => {
      offers[section].set(keys[index] ?? '', each);
    });
  }
  const records = mapSections((): ReadonlyMap<string, AnyRecord> => new Map());
  for (const kind of kinds) {
    const used = kind.isUsedAfterwards ? usedMeters(published.features, offers, context.now) : [];
    const known = new Set(published[kind.section].map(({ id }) => id));
    const stopped = await loadedAll<AnyRecord>(
      context,
      kind.aggregate,
      used.filter((id) => !known.has(id)),
    );
    // After the published ones, so that these keep their numbers when another one is stopped.
    const all = [...published[kind.section], ...stopped];
    const keys = naturalKeys(all.map((record) => calledBy(kind, kind.fieldsOf(record))));
    records[kind.section] = new Map(all.map((record, index) => [keys[index] ?? '', record]));
  }
  return { records, offers };
}

export const isPublished = ({ status }: AnyRecord): boolean => status === 'published';

/** The ids of the meters that features, and prices in force or to come, count with, in order. */
function usedMeters(
  features: readonly AnyRecord[],
  offers: Snapshot['offers'],
  at: Instant,
): readonly string[] {
  const prices = Object.values(offers).flatMap((section) =>
    [...section.values()].flatMap((each) => currentPrices(each, at)),
  );
  const users = [...features, ...prices] as readonly { readonly meter_id?: string | null }[];
  return [...new Set(users.flatMap(({ meter_id }) => meter_id ?? []))].sort(inTextOrder);
}

/** Returns the name by which a file refers to an entry or a record. */
export function calledBy(
  { unique }: Pick<Kind, 'unique'>,
  fields: Readonly<Record<string, unknown>>,
) {
  const value = unique ? fields[unique.field] : null;
  const text = typeof value === 'string' && value !== '' ? value : null;
  return {
    unique: unique?.ignoresCase ? (text?.toLowerCase() ?? null) : text,
    name: typeof fields.name === 'string' ? fields.name : '',
  };
}

/** Keys and ids of the records that stand by themselves. */
export function namesOf({ records }: Snapshot) {
  const names = mapSections(() => new Names());
  for (const { section } of kinds) {
    for (const [key, { id }] of records[section]) names[section].add(key, id);
  }
  return names;
}

/** In the order of ids, which is that in which they were made. */
async function loadedRecords<State>(
  context: RequestContext,
  section: Section,
  table: AnyProjection,
  aggregate: AnyAggregate,
): Promise<readonly State[]> {
  const ids = (await publishedIds(context, section, table)).sort(inTextOrder);
  return loadedAll(context, aggregate, ids);
}

async function loadedAll<State>(
  context: RequestContext,
  aggregate: AnyAggregate,
  ids: readonly string[],
): Promise<readonly State[]> {
  const loaded: State[] = [];
  for (let start = 0; start < ids.length; start += loadedAtOnce) {
    const some = ids.slice(start, start + loadedAtOnce);
    const states = await Promise.all(some.map((id) => context.load(aggregate, id)));
    for (const state of states) if (state !== null) loaded.push(state as State);
  }
  return loaded;
}

async function publishedIds(
  context: RequestContext,
  section: Section,
  table: AnyProjection,
): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += pageRows) {
    const request = { limit: pageRows, offset, status: ['published'] };
    const { items, pagination } = await context.read.list(table, request);
    if (pagination.total > sectionMaximum) throw tooMany(section, pagination.total);
    for (const { id } of items as readonly { readonly id: string }[]) ids.push(id);
    if (items.length < pageRows) return ids;
  }
}

const tooMany = (section: Section, total: number) =>
  invalidOperation(
    `The environment has ${total} ${section}; a document holds at most ${sectionMaximum}.`,
    { reason: 'limit_reached', section, limit: sectionMaximum },
  );
